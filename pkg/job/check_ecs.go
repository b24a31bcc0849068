package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxOverrides is what ECS takes of overrides, in characters of their JSON.
	maxOverrides = 8192
	// contractMost is what the variables BELFRY_… of a container take of it at
	// most, the payload apart.
	contractMost = 1536
)

var (
	clusterForm   = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,255}$`)
	familyForm    = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,255}(:[1-9][0-9]{0,9})?$`)
	subnetForm    = regexp.MustCompile(`^subnet-[0-9a-f]{8,17}$`)
	groupIDForm   = regexp.MustCompile(`^sg-[0-9a-f]{8,17}$`)
	platformForm  = regexp.MustCompile(`^(LATEST|[0-9]+\.[0-9]+\.[0-9]+)$`)
	containerForm = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,255}$`)
	variableForm  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,254}$`)
)

func (e *ECSTarget) check() error {
	return firstFault(e.checkNames, e.checkLaunch, e.checkNetwork, e.checkContainers)
}

func (e *ECSTarget) checkNames() error {
	const field = "target.ecs."
	named := func(text, kind string) string {
		if !strings.HasPrefix(text, "arn:") {
			return text
		}
		a, _ := ParseARN(text)
		if name, is := a.Name(kind); is && a.Service == "ecs" {
			return name
		}
		return ""
	}
	if !clusterForm.MatchString(named(e.Cluster, "cluster/")) {
		return invalid(field+"cluster", e.Cluster, "a cluster's name, or arn:aws:ecs:REGION:ACCOUNT:cluster/NAME", "\""+Shorten(e.Cluster)+"\" is not a cluster", "copy the cluster's name or ARN")
	}
	if !familyForm.MatchString(named(e.TaskDefinition, "task-definition/")) {
		return invalid(field+"task_definition", e.TaskDefinition, "FAMILY, FAMILY:REVISION or the ARN of one", "\""+Shorten(e.TaskDefinition)+"\" is not a task definition",
			"write its family, with a revision to pin it")
	}
	return nil
}

func (e *ECSTarget) checkLaunch() error {
	const field = "target.ecs."
	switch e.LaunchType {
	case "", "FARGATE", "EC2", "EXTERNAL":
	default:
		return &Error{Code: CodePolicyUnknown, Field: field + "launch_type", Value: Shorten(e.LaunchType), Bound: "FARGATE, EC2, EXTERNAL",
			Message: "\"" + Shorten(e.LaunchType) + "\" is no launch type", Fix: "choose FARGATE, EC2 or EXTERNAL, or leave it out"}
	}
	switch {
	case e.LaunchType != "" && len(e.CapacityProviders) > 0:
		return invalid(field+"capacity_providers", fmt.Sprint(len(e.CapacityProviders)), "not with launch_type", "a launch type and capacity providers exclude each other", "leave one of them out")
	case len(e.CapacityProviders) > 20:
		return invalid(field+"capacity_providers", fmt.Sprint(len(e.CapacityProviders)), "20 providers", fmt.Sprintf("%d capacity providers are given", len(e.CapacityProviders)), "keep 20 or fewer")
	case e.PlatformVersion != "" && !platformForm.MatchString(e.PlatformVersion):
		return invalid(field+"platform_version", e.PlatformVersion, "LATEST, or a version such as 1.4.0", "\""+Shorten(e.PlatformVersion)+"\" is not a platform version", "leave it out for the newest")
	}
	for i, p := range e.CapacityProviders {
		of := fmt.Sprintf("%scapacity_providers[%d].", field, i)
		switch {
		case !containerForm.MatchString(p.Name):
			return invalid(of+"name", p.Name, "1 to 255 letters, digits, '_' or '-'", "\""+Shorten(p.Name)+"\" is not a capacity provider", "name one that the cluster has, such as FARGATE_SPOT")
		case p.Weight < 0 || p.Weight > 1000:
			return invalid(of+"weight", fmt.Sprint(p.Weight), "0 to 1000", fmt.Sprintf("a weight of %d is out of bounds", p.Weight), "choose 0 to 1000")
		case p.Base < 0 || p.Base > 100_000:
			return invalid(of+"base", fmt.Sprint(p.Base), "0 to 100000", fmt.Sprintf("a base of %d is out of bounds", p.Base), "choose 0 to 100000")
		}
	}
	return nil
}

func (e *ECSTarget) checkNetwork() error {
	const field = "target.ecs."
	if len(e.Subnets) == 0 && (len(e.SecurityGroups) > 0 || e.PublicIP || e.LaunchType == "FARGATE") {
		return invalid(field+"subnets", "0", "1 to 16 subnets", "a task on Fargate, or one with security groups or a public address, needs subnets", "name the subnets that the task may run in")
	}
	for _, list := range []struct {
		name string
		of   []string
		most int
		form *regexp.Regexp
	}{{"subnets", e.Subnets, 16, subnetForm}, {"security_groups", e.SecurityGroups, 5, groupIDForm}} {
		if len(list.of) > list.most {
			return invalid(field+list.name, fmt.Sprint(len(list.of)), fmt.Sprintf("%d %s", list.most, list.name), fmt.Sprintf("%d %s are given", len(list.of), list.name), fmt.Sprintf("keep %d or fewer", list.most))
		}
		for i, id := range list.of {
			if !list.form.MatchString(id) {
				return invalid(fmt.Sprintf("%s%s[%d]", field, list.name, i), id, strings.Trim(list.form.String(), "^$"), "\""+Shorten(id)+"\" is not an id of "+list.name, "copy the id")
			}
		}
	}
	return nil
}

func (e *ECSTarget) checkContainers() error {
	const field = "target.ecs.containers"
	if len(e.Containers) == 0 || len(e.Containers) > 10 {
		return invalid(field, fmt.Sprint(len(e.Containers)), "1 to 10 containers", fmt.Sprintf("%d containers are named", len(e.Containers)), "name the container of the task definition that does the work: it is told the execution")
	}
	seen := map[string]bool{}
	for i, c := range e.Containers {
		of := fmt.Sprintf("%s[%d].", field, i)
		switch {
		case !containerForm.MatchString(c.Name):
			return invalid(of+"name", c.Name, "1 to 255 letters, digits, '_' or '-'", "\""+Shorten(c.Name)+"\" is not a container's name", "copy it from the task definition")
		case seen[c.Name]:
			return invalid(of+"name", c.Name, "each container once", "the container \""+c.Name+"\" is named twice", "keep one of them")
		}
		seen[c.Name] = true
		for _, name := range slices.Sorted(maps.Keys(c.Environment)) {
			value := c.Environment[name]
			switch {
			case !variableForm.MatchString(name):
				return invalid(of+"environment."+Shorten(name), name, "a letter or '_', then letters, digits, '_', '.' or '-'", "\""+Shorten(name)+"\" is not a variable's name", "use letters, digits and '_'")
			case strings.HasPrefix(name, "BELFRY_") || strings.EqualFold(name, "TRACEPARENT"):
				return invalid(of+"environment."+Shorten(name), name, "not BELFRY_… or TRACEPARENT", "the variable "+Shorten(name)+" is set by Belfry itself", "choose another name")
			case strings.ContainsRune(value, 0):
				return invalid(of+"environment."+Shorten(name), value, "text without zero bytes", "the variable's value holds a zero byte", "leave it out")
			}
		}
	}
	return nil
}

// checkOverrides holds what the containers are told against the room that ECS
// has for it. Each container is told the payload, too.
func (d Definition) checkOverrides() error {
	written, err := json.Marshal(d.Target.ECS.Containers)
	if err != nil {
		return invalid("target.ecs.containers", "", "text", "the containers cannot be written as JSON", "keep to text")
	}
	payload, err := json.Marshal(string(d.Payload))
	if err != nil {
		return invalid("payload", "", "JSON", "the payload cannot be written as text", "keep to JSON")
	}
	if size := len(written) + len(d.Target.ECS.Containers)*(contractMost+len(payload)); size > maxOverrides {
		return &Error{Code: CodeTooLarge, Field: "target.ecs.containers", Value: fmt.Sprint(size), Bound: fmt.Sprintf("%d characters", maxOverrides),
			Message: fmt.Sprintf("commands, environment, and in each container the payload and the execution, come to %d characters", size),
			Fix:     "store the data elsewhere and pass a reference to it, or name fewer containers"}
	}
	return nil
}

// checkObject refuses a payload that the execution cannot be put into beside
// what it holds.
func (d Definition) checkObject() error {
	if len(d.Payload) == 0 || !json.Valid(d.Payload) {
		return nil // the second is told where payloads are checked
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(d.Payload, &members); err != nil || members == nil {
		return invalid("payload", string(d.Payload), "an object", "the payload of a target "+d.Target.Kind()+" must be an object: the execution is put beside its keys", "wrap it, such as {\"value\": …}")
	}
	if _, taken := members[EnvelopeKey]; taken {
		return invalid("payload."+EnvelopeKey, EnvelopeKey, "any key but "+EnvelopeKey, "the key "+EnvelopeKey+" is where the execution is told", "choose another key")
	}
	return nil
}

// EnvelopeKey is the key, beside those of a payload, under which an execution is
// told to an event bus or a state machine.
const EnvelopeKey = "belfry"
