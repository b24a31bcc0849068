# Everything that is done to this repository is a target here; `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
.SILENT:

GO    ?= go
PKG   ?= ./...
BENCH ?= budget
FUZZTIME ?= 60s

# A clone owned by another user must build too; nothing here reads the VCS stamp.
export GOFLAGS ?= -buildvcs=false

# The checks about the repository itself; ./... passes over them for the dot.
SELF  := ./.ci/docs ./.ci/packages ./.ci/suite ./.ci/walls
LINT  := bin/golangci-lint
SUITE := $(GO) run ./.ci/suite

.PHONY: help deps build unit lint fmt walls conformance test race cover bench prove dev clean \
	functions packages image synth synth.check synth.clone infra-test infra-lint need-cdk need-cfn-lint \
	need-lint need-moto moto.txt stack-up stack-deploy stack-test stack-down

help: ## Show this list
	awk 'BEGIN {FS = ":.*## "} /^[a-z.-]+:.*## / {printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## --- set up -----------------------------------------------------------------

deps: ## Install what is missing: Go modules, the linter into bin/, the conformance peer into .venv/
	.ci/deps
	echo 'deps: ready'

build: ## Build every package, and bin/belfry
	$(GO) build ./...
	if [ -d cmd/belfry ]; then $(GO) build -o bin/belfry ./cmd/belfry; fi

## --- check ------------------------------------------------------------------

unit: ## The short tests (under a minute with a warm cache); PKG=./pkg/job/... narrows them
	$(GO) test -vet=off -short $(PKG)

lint: need-lint ## Walls between rooms, clock ban, file and function length, and the usual linters
	$(LINT) run --allow-parallel-runners ./... $(SELF)
	$(LINT) run --allow-parallel-runners --build-tags=stack ./localstack
	cd .ci/image && ../../$(LINT) run --allow-parallel-runners -c ../../.golangci.yml ./...

fmt: need-lint ## Format every Go file
	$(LINT) fmt ./... $(SELF)
	cd .ci/image && ../../$(LINT) fmt -c ../../.golangci.yml ./...

walls: need-lint ## Put a violation behind every wall and see the linter refuse it
	$(GO) test -count=1 ./.ci/walls

conformance: need-moto ## The same SDK calls against the local backend and against moto_server
	$(SUITE) conformance

race: ## The short tests of the rooms that share memory, under the race detector
	$(SUITE) race

test: ## Everything: set up, build, lint, walls, all tests, race detector, conformance, the stacks and an emulator
	$(SUITE) test

prove: ## The long checks: race detector everywhere, repeated shuffled runs, fuzzing (FUZZTIME a target)
	FUZZTIME=$(FUZZTIME) $(SUITE) prove

cover: ## Statement coverage of the short tests, by package
	mkdir -p build
	$(GO) test -vet=off -short -coverprofile=build/cover.out $(PKG)
	$(GO) tool cover -func=build/cover.out | tail -n 1

## --- deploy -----------------------------------------------------------------

# What Lambda starts is called bootstrap. Without paths, build ids and stamps the
# same sources give the same bytes, so that only what changed is deployed.
# The architecture is the settings', or ARCH=x86_64 from the environment.
ARCH      ?= $(shell sed -n 's/^architecture: *//p' infra/belfry.yaml)
GOARCH_OF  = $(if $(filter x86_64,$(ARCH)),amd64,arm64)
STATIC     = CGO_ENABLED=0 GOOS=linux GOARCH=$(GOARCH_OF) $(GO) build -trimpath -buildvcs=false -ldflags '-s -w -buildid='
FUNCTIONS := api tick scan work deadletter record archive

# The mains that run handlers. A team's own main, with its handlers, is both: docs/handlers.md.
WORK      ?= ./functions/work
WORKER    ?= ./cmd/worker

PACK       = $(GO) run -C .ci/image . -arch $(GOARCH_OF)
BUILT     ?= build

functions: ## Build each function to build/<function>/bootstrap, and the container worker and its image to build/worker/
	for f in $(FUNCTIONS); do $(STATIC) -tags lambda.norpc -o $(BUILT)/$$f/bootstrap $$(test $$f = work && echo $(WORK) || echo ./functions/$$f); done
	$(STATIC) -o $(BUILT)/worker/worker $(WORKER)
	$(PACK) -worker $(abspath $(BUILT))/worker/worker -o $(abspath $(BUILT))/worker/image.tar >$(BUILT)/worker/digest

# Sizes are those of what is deployed, starts those of the same built for this machine.
MACHINE   := $(if $(filter arm64 aarch64,$(shell uname -m)),arm64,x86_64)

packages: functions ## Print the size and the init time of each function; fails on a package over the budget
	$(MAKE) functions ARCH=$(MACHINE) BUILT=build/native
	$(GO) run ./.ci/packages -built build -native build/native $(FUNCTIONS)

# What `skopeo copy oci-archive:build/worker-image.tar docker://…`, `podman load` and
# `docker load` take. The commit is told only when nothing beside it is in the image.
VERSION  ?= dev
REVISION ?= $(shell git diff --quiet HEAD 2>/dev/null && git rev-parse HEAD)

image: ## Pack the container worker into build/worker-image.tar, an OCI archive, without a container engine
	$(STATIC) -o build/worker/worker $(WORKER)
	$(PACK) -worker $(CURDIR)/build/worker/worker -version $(VERSION) -revision "$(REVISION)" -o $(CURDIR)/build/worker-image.tar

need-cdk:
	cd infra && if ! cmp -s package-lock.json node_modules/.belfry-lock; then npm ci --silent && cp package-lock.json node_modules/.belfry-lock; fi

synth: need-cdk ## Synthesize all stacks into cdk.out/; fails on review findings and on anything to be looked up
	infra/node_modules/.bin/cdk synth --quiet $(SYNTHFLAGS)

# whole FOLDER: every stack is in the assembly, nothing is to be looked up, and
# CloudFormation's own rules hold. W3005 is a dependency said twice: the CDK's,
# beside the reference itself.
whole = for stack in data core api workers watch; do ls $(1)/*-$$stack.template.json >/dev/null; done; \
	if grep '"missing"' $(1)/manifest.json; then false; fi; \
	build/cfn-lint/bin/cfn-lint -i W3005 -- $(1)/*.template.json

synth.check: synth need-cfn-lint ## The same, and see that the assembly is whole and valid CloudFormation
	$(call whole,cdk.out)

synth.clone: need-cfn-lint ## The same in a fresh clone of what is committed, where nothing has been built
	rm -rf build/clone && git clone -q . build/clone && test ! -e build/clone/build
	$(MAKE) -C build/clone synth
	$(call whole,build/clone/cdk.out)
	rm -rf build/clone

infra-test: need-cfn-lint ## The tests of the CDK app: settings, properties, golden templates, review rules, rights, cfn-lint
	CFN_LINT=$(CURDIR)/build/cfn-lint/bin/cfn-lint $(GO) test -C infra -count=1 ./...

infra-lint: need-lint ## The linter on the CDK app, a module that `make lint` does not see
	cd infra && ../$(LINT) run --allow-parallel-runners -c ../.golangci.yml ./...

need-cfn-lint:
	if ! cmp -s infra/lint/requirements.txt build/cfn-lint/requirements.txt; then \
		rm -rf build/cfn-lint && python3 -m venv build/cfn-lint && \
		build/cfn-lint/bin/pip install -q --disable-pip-version-check --require-hashes -r infra/lint/requirements.txt && \
		cp infra/lint/requirements.txt build/cfn-lint/; fi

infra/lint/requirements.txt: infra/lint/requirements.in
	cd infra/lint && pip-compile -q --generate-hashes --no-annotate --no-emit-index-url \
		--no-emit-find-links --no-header --strip-extras -o requirements.txt requirements.in

# Against an emulator: STACK_PORT (4566), ENDPOINT=ministack or localstack.
stack-up: ## Start an emulator of AWS: MiniStack from PyPI, on STACK_PORT=4566; ENDPOINT=localstack for the other
	localstack/stack up

stack-deploy: ## Build for this machine and deploy data, core and api to that emulator
	localstack/stack deploy

stack-test: ## Deploy and watch jobs run through the API alone; an emulator that is not up is started for it and stopped
	localstack/stack test

stack-down: ## Stop that emulator and all that it runs
	localstack/stack down

localstack/requirements.txt: localstack/requirements.in
	cd localstack && pip-compile -q --generate-hashes --no-annotate --no-emit-index-url \
		--no-emit-find-links --no-header --strip-extras -o requirements.txt requirements.in

## --- run --------------------------------------------------------------------

bench: ## Measure against the budgets: BENCH=budget (counted, the default), idle, precision, burst, throughput
	$(GO) run ./cmd/bench $(BENCH)

dev: ## Build Belfry and run the whole system on this machine, with examples/jobs.yaml applied
	$(GO) build -o bin/belfry ./cmd/belfry
	bin/belfry dev --apply examples/jobs.yaml

clean: ## Remove what was built and what `make dev` stored; the caches of Go stay
	rm -rf bin build .venv .venv-stack .belfry cdk.out infra/node_modules

## --- behind the targets above -----------------------------------------------

# Not file targets: .ci/deps compares pins, so a new pin is never missed.
need-lint:
	.ci/deps linter

need-moto:
	.ci/deps system_packages conformance_peer

moto.txt:
	cd .ci/python && pip-compile -q --generate-hashes --no-annotate --no-emit-index-url \
		--no-emit-find-links --no-header --strip-extras -o moto.txt moto.in
