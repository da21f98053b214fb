package workersdoc

import (
	"os"
	"slices"
	"strings"
	"testing"

	"tiebreak/internal/check/must"

	yamlv3 "go.yaml.in/yaml/v3"
)

// A manifest holds the parts of a Deployment or Job that matter to workers.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec pod
		}
	}
}

type pod struct {
	TerminationGracePeriodSeconds int   `yaml:"terminationGracePeriodSeconds"`
	AutomountServiceAccountToken  *bool `yaml:"automountServiceAccountToken"`
	SecurityContext               struct {
		RunAsNonRoot bool `yaml:"runAsNonRoot"`
	} `yaml:"securityContext"`
	Containers []struct {
		Command, Args   []string
		SecurityContext struct {
			AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
			ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
		} `yaml:"securityContext"`
		Resources struct{ Requests, Limits map[string]string }
	}
	Volumes []map[string]any
}

// flags are those of "tiebreak worker" that the manifests may pass; each has a value.
var flags = []string{"--nats", "--credentials", "--name", "--slots", "--idle", "--alive", "--files"}

// TestKubernetes: both manifests pass flags of the worker, and let it write nothing but /tmp.
func TestKubernetes(t *testing.T) {
	for file, kind := range map[string]string{"kubernetes-job.yaml": "Job", "kubernetes-deployment.yaml": "Deployment"} {
		t.Run(kind, func(t *testing.T) {
			text := must.Get(os.ReadFile("../../../docs/examples/workers/" + file))(t)
			var m manifest
			must.Do(t, yamlv3.Unmarshal(text, &m))
			p := m.Spec.Template.Spec
			if m.Kind != kind || len(p.Containers) != 1 || p.TerminationGracePeriodSeconds != 60 || !p.SecurityContext.RunAsNonRoot || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken || len(p.Volumes) != 2 {
				t.Fatalf("the manifest is %+v", m)
			}
			c := p.Containers[0]
			if !c.SecurityContext.ReadOnlyRootFilesystem || c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation || c.Resources.Limits["memory"] == "" || c.Resources.Requests["cpu"] == "" {
				t.Errorf("the container is %+v", c)
			}
			if !slices.Equal(append(c.Command, c.Args[0]), []string{"tiebreak", "worker"}) {
				t.Fatalf("the command is %q %q", c.Command, c.Args)
			}
			checkFlags(t, kind, c.Args[1:])
			if n := strings.Count(string(text), "/tmp/alive"); n != 3 { // --alive and two probes
				t.Errorf("/tmp/alive is named %d times", n)
			}
		})
	}
}

func checkFlags(t *testing.T, kind string, args []string) {
	t.Helper()
	passed := map[string]string{}
	for k := 0; k+1 < len(args); k += 2 {
		if !slices.Contains(flags, args[k]) || strings.HasPrefix(args[k+1], "--") {
			t.Errorf("%q with the value %q is no flag of the worker", args[k], args[k+1])
		}
		passed[args[k]] = args[k+1]
	}
	if len(args)%2 != 0 || passed["--name"] != "workers" || passed["--alive"] != "/tmp/alive" || passed["--credentials"] != "/secrets/workers.nkey" {
		t.Errorf("the flags are %q", args)
	}
	if _, idle := passed["--idle"]; idle != (kind == "Job") {
		t.Errorf("a %s passes --idle: %v", kind, idle)
	}
}
