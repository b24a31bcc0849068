package localstack

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// service is what the tests read of a service in compose.yaml.
type service struct {
	Image       string            `yaml:"image"`
	Ports       []string          `yaml:"ports"`
	EnvFile     string            `yaml:"env_file"`
	Environment map[string]string `yaml:"environment"`
	Volumes     []string          `yaml:"volumes"`
	Healthcheck map[string]any    `yaml:"healthcheck"`
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func localStack(t *testing.T) service {
	t.Helper()
	var composed struct {
		Services map[string]service `yaml:"services"`
	}
	if err := yaml.UnmarshalWithOptions([]byte(read(t, "compose.yaml")), &composed, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	s, found := composed.Services["localstack"]
	if !found || len(composed.Services) != 1 {
		t.Fatalf("services %v; want localstack alone", composed.Services)
	}
	return s
}

// defaultPort is where ./stack looks for an emulator.
func defaultPort(t *testing.T) string {
	t.Helper()
	found := regexp.MustCompile(`port="\$\{STACK_PORT:-(\d+)\}"`).FindStringSubmatch(read(t, "stack"))
	if found == nil {
		t.Fatal("./stack reads no STACK_PORT: the pattern has gone blind")
	}
	return found[1]
}

func TestBothEmulatorsListenWhereTheStepsLook(t *testing.T) {
	s := localStack(t)
	port := "${STACK_PORT:-" + defaultPort(t) + "}"
	if want := []string{"127.0.0.1:" + port + ":" + port}; !slices.Equal(s.Ports, want) {
		t.Errorf("ports %q; want %q: the port of the steps, on this machine alone", s.Ports, want)
	}
	if got, want := s.Environment["GATEWAY_LISTEN"], "0.0.0.0:"+port; got != want {
		t.Errorf("GATEWAY_LISTEN %q; want %q", got, want)
	}
	if !strings.Contains(read(t, "stack"), `GATEWAY_PORT="$port"`) || !strings.Contains(read(t, "stack"), "BIND_HOST=127.0.0.1") {
		t.Error("./stack does not tell MiniStack the port, and to listen on this machine alone")
	}
}

func TestBothEmulatorsAreTheSameAccountInTheSameRegion(t *testing.T) {
	s := localStack(t)
	if s.EnvFile != "emulator.env" {
		t.Errorf("env_file %q; want emulator.env", s.EnvFile)
	}
	if !strings.Contains(read(t, "stack"), "done <localstack/emulator.env") {
		t.Error("./stack does not read emulator.env")
	}
	var names []string
	for line := range strings.Lines(read(t, "emulator.env")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if !ok || value == "" {
			t.Errorf("%q is no variable with a value", line)
		}
		if _, twice := s.Environment[name]; twice {
			t.Errorf("compose.yaml says %s, too: it would hide the one that MiniStack is told", name)
		}
		names = append(names, name)
	}
	if want := []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_DEFAULT_REGION"}; !slices.Equal(names, want) {
		t.Errorf("emulator.env says %q; want %q", names, want)
	}
}

func TestNeitherEmulatorKeepsAnythingOrComesInAnyVersion(t *testing.T) {
	s := localStack(t)
	if s.Environment["PERSISTENCE"] != "0" || !strings.Contains(read(t, "stack"), "PERSIST_STATE=0") {
		t.Error("an emulator keeps its state from one run to the next")
	}
	if !regexp.MustCompile(`^localstack/localstack:[0-9]`).MatchString(s.Image) {
		t.Errorf("image %q names no version", s.Image)
	}
	wanted := regexp.MustCompile(`(?m)^ministack==(\S+)$`).FindStringSubmatch(read(t, "requirements.in"))
	if wanted == nil || !strings.Contains(read(t, "requirements.txt"), "ministack=="+wanted[1]+" \\\n    --hash=sha256:") {
		t.Errorf("requirements.txt does not pin %v of requirements.in by its hash", wanted)
	}
	if _, found := s.Environment["LOCALSTACK_AUTH_TOKEN"]; !found {
		t.Error("LocalStack is not handed the token that it asks for")
	}
}
