package stacks_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// role is an identity with everything that its policies allow.
type role struct {
	Name   string   // of the function, or of the worker pool
	Rights []string // "dynamodb:GetItem on belfry-jobs", sorted
}

func (r role) may(action string) bool {
	return slices.ContainsFunc(r.Rights, func(right string) bool { return strings.HasPrefix(right, action+" ") })
}

// touchesData tells whether the role reads or writes a table or a queue.
func (r role) touchesData() bool {
	return slices.ContainsFunc(r.Rights, func(right string) bool {
		return strings.HasPrefix(right, "dynamodb:") || strings.HasPrefix(right, "sqs:") || strings.HasPrefix(right, "s3:")
	})
}

// rolesOf are the roles of an installation, by name.
func rolesOf(t *testing.T, i installation) []role {
	t.Helper()
	found := map[string]*role{}
	ids := map[string]string{}
	for _, stack := range slices.Sorted(maps.Keys(i)) {
		for _, r := range i[stack].Resources {
			if r.Type == "AWS::IAM::Role" {
				name := roleName(stack, r.ID)
				ids[stack+"/"+r.ID], found[name] = name, &role{Name: name}
				if managed := r.get("ManagedPolicyArns"); managed != "" {
					found[name].Rights = append(found[name].Rights, "everything in "+managed)
				}
			}
		}
	}
	for _, stack := range slices.Sorted(maps.Keys(i)) {
		for _, r := range i[stack].Resources {
			if r.Type != "AWS::IAM::Policy" {
				continue
			}
			holders, _ := at(r.Properties, "Roles").([]any)
			for _, holder := range holders {
				to := found[ids[stack+"/"+text(at(holder, "Ref"))]]
				to.Rights = append(to.Rights, i.rights(t, stack, r)...)
			}
		}
	}
	var all []role
	for _, name := range slices.Sorted(maps.Keys(found)) {
		slices.Sort(found[name].Rights)
		found[name].Rights = slices.Compact(found[name].Rights)
		all = append(all, *found[name])
	}
	return all
}

var hash = regexp.MustCompile(`[0-9A-F]{8}$`)

// roleName is the word by which the reviewed file names a role.
func roleName(stack, id string) string {
	name := strings.TrimSuffix(hash.ReplaceAllString(id, ""), "Role")
	if stack == "workers" {
		return "workers/" + name
	}
	return strings.ToLower(name)
}

// rights are the statements of a policy, one line for each action and thing.
func (i installation) rights(t *testing.T, stack string, policy resource) []string {
	t.Helper()
	var lines []string
	statements, _ := at(policy.Properties, "PolicyDocument.Statement").([]any)
	for _, s := range statements {
		if effect := text(at(s, "Effect")); effect != "Allow" {
			t.Errorf("%s has a statement that is %s", policy.ID, effect)
		}
		for _, action := range listed(at(s, "Action")) {
			for _, thing := range listed(at(s, "Resource")) {
				lines = append(lines, text(action)+" on "+i.thing(stack, thing))
			}
		}
	}
	return lines
}

func listed(value any) []any {
	if list, is := value.([]any); is {
		return list
	}
	return []any{value}
}

// beforeName is what comes before the name in the ARN of what has one.
var beforeName = regexp.MustCompile(`^arn:\{"Ref":"AWS::Partition"\}:(s3:::|(dynamodb|sqs|sns):\{"Ref":"AWS::Region"\}:\{"Ref":"AWS::AccountId"\}:(table/)?)`)

// thing names what an ARN in a template stands for.
func (i installation) thing(stack string, arn any) string {
	if export := text(at(arn, "Fn::ImportValue")); export != "" {
		for name := range i {
			outputs, _ := i[name].Raw["Outputs"].(map[string]any)
			for _, output := range outputs {
				if text(at(output, "Export.Name")) == export {
					return i.thing(name, at(output, "Value"))
				}
			}
		}
		return export
	}
	if id := text(at(arn, "Fn::GetAtt.0")); id != "" {
		for _, r := range i[stack].Resources {
			if r.ID == id {
				return r.name()
			}
		}
	}
	if parts, is := at(arn, "Fn::Join.1").([]any); is {
		var whole strings.Builder
		for _, part := range parts {
			if _, plain := part.(string); plain {
				whole.WriteString(part.(string))
			} else {
				whole.WriteString(i.thing(stack, part))
			}
		}
		return beforeName.ReplaceAllString(whole.String(), "")
	}
	return text(arn)
}

// name is a resource's own name, or what it is.
func (r resource) name() string {
	for _, property := range []string{"TableName", "QueueName", "FunctionName", "LogGroupName"} {
		if name := r.get(property); name != "" && !strings.HasPrefix(name, "{") {
			return name
		}
	}
	return fmt.Sprintf("%s (%s)", hash.ReplaceAllString(r.ID, ""), r.Type)
}
