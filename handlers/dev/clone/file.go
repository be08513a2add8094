package clone

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// beside is added to the name of the template's file, where the product's is
// kept and somebody has to decide.
const beside = ".template-new"

// file decides about one of the template's files.
func (u *upgrade) file(ctx context.Context, path string) error {
	began, known := u.was.began[path]
	becomes, wanted := u.is.began[path]
	here, exists := u.product[path]
	switch {
	case exists && wanted && sum(here.content) == becomes.here, !exists && !wanted: // as it is in the template
	case exists && wanted && known && began.there == becomes.there: // the template has nothing new
		u.ask(path, "changed here by hand; the template has nothing new for it", kindOf(path) == ofTemplate)
	case exists && known && u.untouched(here.content, began), !exists && !known: // the product has nothing of its own
		u.take(path, wanted)
	case !exists:
		u.ask(path, "deleted here; the template goes on with it", began.there != becomes.there)
	case !wanted:
		u.ask(path, "changed here, and gone from the template: delete it, or keep it as your own", true)
	case !known:
		u.putBeside(path, "made here, and now the template has one too")
	case kindOf(path) == merged:
		return u.merge(ctx, path, began)
	default:
		u.putBeside(path, "changed here by hand, and by the template")
	}
	return nil
}

// untouched reports whether a file is what it began as, but for a module path
// that was changed since.
func (u *upgrade) untouched(content []byte, began sums) bool {
	return sum(bytes.ReplaceAll(content, []byte(u.is.ownModule), []byte(u.was.ownModule))) == began.here
}

func (u *upgrade) ask(path, why string, reallyAsk bool) {
	if reallyAsk {
		u.decide = append(u.decide, path+": "+why)
	}
}

// take makes the file what it is in the template.
func (u *upgrade) take(path string, wanted bool) {
	if !wanted {
		u.changes[path] = nil
		return
	}
	f := u.template[path]
	u.changes[path] = &file{u.is.derive(path, f.content), f.mode}
}

// putBeside keeps the product's file, and writes the template's beside it.
func (u *upgrade) putBeside(path, why string) {
	u.take(path, true)
	u.changes[path+beside] = u.changes[path]
	delete(u.changes, path)
	u.ask(path, why+": the template's is beside it, as "+path+beside, true)
}

// merge puts the changes of the product and of the template together.
func (u *upgrade) merge(ctx context.Context, path string, began sums) error {
	base, found := u.blob(ctx, began.there)
	if !found {
		u.putBeside(path, "changed here and by the template; what it began as is found in neither repository")
		return nil
	}
	whole, clean, err := u.mergeFile(ctx, u.product[path].content, u.was.derive(path, base), u.is.derive(path, u.template[path].content))
	if err != nil {
		return err
	}
	u.changes[path] = &file{whole, u.template[path].mode}
	if clean {
		u.merged = append(u.merged, path)
	} else {
		u.ask(path, "changed here and by the template in the same lines, which are marked <<<<<<< and >>>>>>>", true)
	}
	return nil
}

// blob is the content that has the hash, from the template's repository or from
// the product's.
func (u *upgrade) blob(ctx context.Context, hash string) ([]byte, bool) {
	for _, dir := range []string{u.from, u.dir} {
		if !hasGit(dir) {
			continue
		}
		if content, err := git(ctx, dir, "cat-file", "blob", hash); err == nil {
			return content, true
		}
	}
	return nil, false
}

// mergeFile is git's merge of three files; it is not clean where both have
// changed the same lines.
func (u *upgrade) mergeFile(ctx context.Context, ours, base, theirs []byte) (whole []byte, clean bool, err error) {
	dir, err := os.MkdirTemp(u.work, "merge")
	if err != nil {
		return nil, false, err
	}
	for name, content := range map[string][]byte{"ours": ours, "base": base, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, false, err
		}
	}
	whole, err = git(ctx, dir, "merge-file", "-p", "-L", "yours", "-L", "template "+u.was.version, "-L", "template "+u.is.version, "ours", "base", "theirs")
	var conflicts *exec.ExitError
	if errors.As(err, &conflicts) && conflicts.ExitCode() > 0 && conflicts.ExitCode() < 128 {
		return whole, false, nil
	}
	return whole, true, err
}
