package cost

// Region is where the prices hold.
const Region = "us-east-1"

// Price is a list price in US dollars.
type Price struct {
	Name   string
	USD    float64
	Per    float64 // so many units
	Unit   string
	Free   float64 // units a month that are free for good in an account; zero = none
	Source string  // the vendor's page
	Seen   string  // where and when the figure was checked
}

const (
	facts  = "list of prices kept with the design, 2026-11"
	dynamo = "https://aws.amazon.com/dynamodb/pricing/on-demand/"
	watch  = "https://aws.amazon.com/cloudwatch/pricing/"
	lambda = "https://aws.amazon.com/lambda/pricing/"
	ecs    = "https://aws.amazon.com/fargate/pricing/"
	steps  = "https://aws.amazon.com/step-functions/pricing/"
	cloud  = "https://docs.temporal.io/cloud/pricing"
	events = "https://aws.amazon.com/eventbridge/pricing/"
	s3     = "https://aws.amazon.com/s3/pricing/"
	xray   = "https://aws.amazon.com/xray/pricing/"

	million = 1e6
)

// Prices are the list prices, without free allowances unless Input.FreeTier asks
// for them, without taxes, discounts and data transfer.
var Prices = []Price{
	{"wru", 0.625, million, "write request units", 0, dynamo, facts + "; a guide's copy of 2025"},
	{"rru", 0.125, million, "read request units", 0, dynamo, facts + "; a guide's copy of 2025"},
	{"storage", 0.25, 1, "GB-months", 25, dynamo, "the vendor's page, stored copy, read 2026-11-29"},
	{"pitr", 0.20, 1, "GB-months", 0, dynamo, "a guide, undated, read 2026-11-29"},
	{"sqs", 0.40, million, "requests", million, "https://aws.amazon.com/sqs/pricing/", facts + "; an article's copy of 2026"},
	{"puts", 5.00, million, "requests", 0, s3, "a guide, undated, read 2026-11-29"},
	{"objects", 0.023, 1, "GB-months", 0, s3, "a guide, undated, read 2026-11-29"},
	{"lambda requests", 0.20, million, "requests", million, lambda, facts + "; guides of 2026-05"},
	{"lambda arm64", 13.3334, million, "GB-s", 400_000, lambda, "a guide of 2026-05"},
	{"lambda x86_64", 16.6667, million, "GB-s", 400_000, lambda, facts + "; guides of 2026-05"},
	{"vcpu arm64", 0.03238, 1, "vCPU-hours", 0, ecs, "a guide of 2021, repeated in 2026-04"},
	{"vcpu x86_64", 0.04048, 1, "vCPU-hours", 0, ecs, "guides of 2026-03"},
	{"memory arm64", 0.00356, 1, "GB-hours", 0, ecs, "a guide of 2021, repeated in 2026-04"},
	{"memory x86_64", 0.004445, 1, "GB-hours", 0, ecs, "guides of 2026-03"},
	{"ipv4", 0.005, 1, "address-hours", 0, "https://aws.amazon.com/vpc/pricing/", "articles of 2024, when it was introduced, and 2025-05"},
	{"http api", 1.00, million, "requests", 0, "https://aws.amazon.com/api-gateway/pricing/", facts + "; guides of 2025-05 and 2026"},
	{"scheduler", 1.00, million, "invocations", 14 * million, events, facts + "; a guide of 2026-03"},
	{"metrics", 0.30, 1, "metric-months", 10, watch, facts + "; a guide of 2026-02"},
	{"alarms", 0.10, 1, "alarm-months", 10, watch, "a guide of 2026-06"},
	{"composite alarms", 0.50, 1, "alarm-months", 0, watch, "a list of resource prices, undated, read 2026-11-29"},
	{"dashboards", 3.00, 1, "dashboard-months", 3, watch, facts + "; a guide of 2026-06"},
	{"logs", 0.50, 1, "GB", 5, watch, "a guide of 2026-06"},
	{"traces", 5.00, million, "traces", 100_000, xray, "the vendor's page, stored copy, read 2026-11-29"},

	{"transitions", 25.00, million, "state transitions", 4000, steps, "the vendor's page, stored copy, read 2026-11-29"},
	{"express requests", 1.00, million, "requests", 0, steps, "a guide of 2026-03"},
	{"express duration", 16.67, million, "GB-s", 0, steps, "a guide of 2026-03"},
}

// price is the price of that name. A name that the table does not have is a
// fault of this package, which its tests find: every call has a constant name.
func price(name string) Price {
	for _, p := range Prices {
		if p.Name == name {
			return p
		}
	}
	return Price{Per: 1}
}

// of is what so many units cost.
func (p Price) of(units float64, freeTier bool) float64 {
	if freeTier {
		units = max(units-p.Free, 0)
	}
	return units / p.Per * p.USD
}
