package ops_test

import (
	"errors"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"example.com/subproduct/handlers/config"
	"example.com/subproduct/handlers/handlertest"
	"example.com/subproduct/handlers/handlertest/fixture"
)

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// manifest is what the tests read of kubernetes.yml.
type manifest struct {
	Kind string
	Spec struct{ Template struct{ Spec pod } }
}

type pod struct {
	Grace           int `yaml:"terminationGracePeriodSeconds"`
	SecurityContext struct {
		RunAsUser int `yaml:"runAsUser"`
	} `yaml:"securityContext"`
	Containers []struct {
		Args            []string
		ReadinessProbe  probe `yaml:"readinessProbe"`
		LivenessProbe   probe `yaml:"livenessProbe"`
		SecurityContext struct {
			ReadOnly bool `yaml:"readOnlyRootFilesystem"`
		} `yaml:"securityContext"`
	}
}

type probe struct {
	HTTPGet                         struct{ Path string } `yaml:"httpGet"`
	PeriodSeconds, FailureThreshold int
}

func manifests(t *testing.T) (all map[string]manifest) {
	t.Helper()
	all = map[string]manifest{}
	for d := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes.yml"))); ; {
		var m manifest
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[m.Kind] = m
	}
}

func TestKubernetes_TheExampleFitsTheServer(t *testing.T) {
	t.Parallel()
	site := handlertest.Start(t, fixture.Product(), handlertest.Setup{})
	all := manifests(t)
	user := regexp.MustCompile(`(?m)^USER 65532:65532$`)
	if !user.MatchString(read(t, "../../../Dockerfile")) || len(all) != 4 || all["Service"].Kind == "" || all["PodDisruptionBudget"].Kind == "" {
		t.Errorf("%v", all)
	}
	for _, kind := range []string{"Job", "Deployment"} {
		p := all[kind].Spec.Template.Spec
		if len(p.Containers) != 1 || p.SecurityContext.RunAsUser != 65532 || !p.Containers[0].SecurityContext.ReadOnly {
			t.Fatalf("%s: %+v", kind, p)
		}
	}
	serve := all["Deployment"].Spec.Template.Spec
	if grace := time.Duration(serve.Grace) * time.Second; grace <= site.Config.DrainDelay+site.Config.ShutdownTimeout {
		t.Errorf("the grace of %v is too short", grace)
	}
	for _, probe := range []probe{serve.Containers[0].ReadinessProbe, serve.Containers[0].LivenessProbe} {
		if answer := site.Browser(t).Get(probe.HTTPGet.Path); answer.Status != http.StatusOK {
			t.Errorf("%s: %d", probe.HTTPGet.Path, answer.Status)
		}
	}
	if ready := serve.Containers[0].ReadinessProbe; time.Duration(ready.PeriodSeconds*ready.FailureThreshold)*time.Second >= site.Config.DrainDelay {
		t.Errorf("DRAIN_DELAY is over before %+v notices", ready)
	}
}

// What Compose's file says of the database's login is what README.md says.
func TestCompose_TheExampleParsesAndMakesTheSameLogin(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			StopGracePeriod time.Duration `yaml:"stop_grace_period"`
		}
		Configs map[string]struct{ Content string }
	}
	if err := yaml.Unmarshal([]byte(read(t, "compose.yml")), &file); err != nil {
		t.Fatal(err)
	}
	role := strings.ReplaceAll(file.Configs["role.sql"].Content, "'${APP_DB_PASSWORD}'", ":'password'")
	if !strings.Contains(commands(t, "README.md", "The database's login", 0), role) || role == "" {
		t.Errorf("role.sql is\n%s", role)
	}
	if grace := file.Services["app"].StopGracePeriod; grace <= 20*time.Second {
		t.Errorf("the grace is %v", grace)
	}
}

// Each setting that the chapter and its files name exists.
func TestChapter_ItsSettingsExist(t *testing.T) {
	t.Parallel()
	others := []string{"APP_DB_PASSWORD", "POSTGRES_PASSWORD", "ON_ERROR_STOP", "ROLLING_TIME", "OTEL_EXPORTER_OTLP_ENDPOINT"}
	known := slices.Concat(config.Names(), others)
	found := 0
	for _, file := range []string{"README.md", "kubernetes.yml", "compose.yml", "haproxy.cfg", "alerts.yml"} {
		for _, name := range regexp.MustCompile(`\b[A-Z]+(_[A-Z]+)+\b`).FindAllString(read(t, file), -1) {
			found++
			if !slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
				t.Errorf("%s: there is no setting %s", file, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d names were looked at", found)
	}
}
