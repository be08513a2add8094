package words_test

import (
	"testing"

	"example.com/subproduct/handlers/words"
)

func TestWords_OfThePages(t *testing.T) {
	t.Parallel()
	if words.Language() != "en" || words.Pages() == 0 {
		t.Errorf("%s, %d pages", words.Language(), words.Pages())
	}
}
