module github.com/belfry-scheduler/belfry/ci/cronbench

go 1.26.8

require (
	github.com/belfry-scheduler/belfry v0.0.0
	github.com/gorhill/cronexpr v0.0.0-20180427100037-88b0669f7d75
	github.com/hashicorp/cronexpr v1.1.3
	github.com/robfig/cron/v3 v3.0.1
)

require (
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/stretchr/testify v1.12.1 // indirect
)

replace github.com/belfry-scheduler/belfry => ../..
