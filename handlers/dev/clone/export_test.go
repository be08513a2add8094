package clone

import "context"

// Copy copies what git would commit, or everything where there is no git.
func Copy(ctx context.Context, from, to string) error {
	t, err := readTree(ctx, from)
	if err != nil {
		return err
	}
	return tree{}.to(t).apply(to)
}

// Product is what the template in dir becomes, by path.
func Product(ctx context.Context, dir, name, slug string, withoutSample bool) (map[string]string, error) {
	template, err := readTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	o := &origin{name: name, slug: slug}
	product, err := o.product(template, withoutSample)
	files := map[string]string{}
	for path, f := range product {
		files[path] = string(f.content)
	}
	return files, err
}

// MergeGoMod is go.mod with the higher of each requirement.
func MergeGoMod(ours, theirs string) (string, error) {
	merged, err := mergeGoMod([]byte(ours), []byte(theirs))
	return string(merged), err
}
