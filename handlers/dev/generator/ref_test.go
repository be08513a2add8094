package generator_test

import (
	"io"
	"strings"
	"testing"

	"example.com/subproduct/handlers/dev/generator"
)

// A resource refers to what was there before: one that add has made by its name,
// with a link, and any table by its ids. The example has what that is like.
func TestAdd_RefersToWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := before(t)
	for _, call := range []string{"clients code:int name:string", "projects client_id:ref=clients", "tasks project:ref=projects:optional client:ref=clients"} {
		if err := generator.Add(target(t, dir), "", strings.Fields(call), io.Discard); err != nil {
			t.Fatal(call, err)
		}
	}
	for name, wants := range map[string][]string{
		"schema/tenant/000003_projects.up.sql": {"client_id  bigint      NOT NULL REFERENCES clients (id),", "CREATE INDEX ON projects (client_id);"},
		"handlers/projects_data.go":            {"SELECT id, name FROM clients ORDER BY", `web.Invalid{"clientId": "There is no such client."}`},
		"handlers/tasks_data.go":               {"SELECT id, 'Project ' || id FROM projects ORDER BY"},
		"templates/tasks.html": {`<td><a href="/clients/{{.ClientID}}">{{.Client}}</a></td>`,
			`{{if .ProjectID}}<a href="/projects/{{.ProjectID}}">{{.Project}}</a>{{end}}`},
		"templates/tasks_form.html": {"{{- if not .Data.Choices.clientId}}\n    <p class=\"hint\">There is none yet: <a href=\"/clients/new\">add one</a>.</p>"},
	} {
		for _, want := range wants {
			if have := read(t, dir, name); !strings.Contains(have, want) {
				t.Errorf("%s has no\n%s\nin\n%s", name, want, have)
			}
		}
	}
}
