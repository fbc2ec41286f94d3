# `make dev` is the first command of a newcomer, `make test` the second.

GO      ?= go
BIN     := bin/pages
SITE    := testdata/sites/riverside
PACKS   := testdata/sites/packages
TYPES   := testdata/sites/types
WORKERD := testdata/sites/workerd
VITE    := testdata/sites/frameworks/vite
NEXTJS  := testdata/sites/frameworks/next
RSC     := testdata/sites/frameworks/rsc
DRIVER  := testdata/sites/playwright
MCP     := testdata/sites/mcp
SCRIPTS := cmd/tools/javascript
LINTV   := v2.15.0
LINT    := bin/golangci-lint-$(LINTV)
SUMV    := v1.13.0
SUM     := bin/gotestsum-$(SUMV)
VULNV   := v1.9.0
VULN    := bin/govulncheck-$(VULNV)
BIOME   := $(SCRIPTS)/node_modules/.bin/biome
STYLE   := --config-path=$(SCRIPTS)/style.jsonc
# A commit with a tag is that release; any other is the next one in the making, by the name of the commit: 0.2.0-dev.g0123abc.
NEXT    := $(shell sed -n 's/^var version.* = "\([^"]*\)".*/\1/p' cmd/pages/version.go)
MARK    := $(shell git describe --always --dirty=.dirty --abbrev=8 --exclude='*' 2>/dev/null || echo unknown)
VERSION := $(shell git describe --tags --exact-match --dirty=.dirty 2>/dev/null || echo $(NEXT).g$(MARK))
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(shell git rev-parse HEAD 2>/dev/null)
BOOTED  := $(filter-out %_test.go,$(shell find runtime -name '*.go'))
GOFILES := $(shell find cmd manifest bundler runtime migrate devserver toolapi -name '*.go' -not -path '*/node_modules/*' 2>/dev/null)

.PHONY: dev build test check bench soak clean artifacts javascript format cross example \
        site projects lint vuln long race wazero goldens browser npm screenshots tidy release

# The program and all tests are compiled alike, as a release is: otherwise `make test` would compile everything once more.
# Nothing here reads DWARF, and a release has none: it is a third of the compiler's time. A debugger takes a plain `go build`.
COMPILED := -trimpath -gcflags=all=-dwarf=false

export CGO_ENABLED := 0
export GOFLAGS     := $(filter-out $(COMPILED),$(GOFLAGS)) $(COMPILED)

dev: build example
	$(BIN) dev $(SITE)

build: $(BIN)

$(BIN): artifacts $(GOFILES)
	$(GO) build -ldflags '$(LDFLAGS)' -o $@ ./cmd/pages

# The engine, which is quickjs.wasm translated to Go, the prelude, the modules of Node.js and the dictionaries for words,
# from npm packages, and the image of the first with the second evaluated; left alone when up to date.
artifacts:
	@$(GO) run ./cmd/tools/artifacts
	@$(MAKE) --no-print-directory runtime/artifact/boot.image

runtime/artifact/boot.image: runtime/artifact/prelude.js runtime/engine/quickjs/translation.go $(BOOTED)
	@$(GO) run ./cmd/tools/artifacts/bootimage $@

# What the example site imports from npm, and what the other sites of the tests do.
example: $(SITE)/node_modules/.package-lock.json
site: example $(PACKS)/node_modules/.package-lock.json $(TYPES)/node_modules/.package-lock.json $(WORKERD)/node_modules/.package-lock.json \
	$(VITE)/node_modules/.package-lock.json

%/node_modules/.package-lock.json: %/package-lock.json
	npm ci --prefix $* --omit=dev --no-audit --no-fund --loglevel=error

# Projects of frameworks as their own builds leave them, for the benchmark; some 800 MB of packages, by Node.js 22.
projects: $(NEXTJS)/node_modules/.package-lock.json $(RSC)/node_modules/.package-lock.json
	NEXT_TELEMETRY_DISABLED=1 npm run worker --prefix $(NEXTJS)
	npm run build --prefix $(RSC)

# One line for each package as it ends, and at the end what failed once more. `make lint` vets.
TEST = $(SUM) --format standard-quiet --hide-summary skipped -- -vet=off -ldflags=-w -timeout 30m

test: build site $(SUM)
	$(TEST) ./...

$(SUM):
	GOBIN=$(CURDIR)/bin $(GO) install gotest.tools/gotestsum@$(SUMV)
	mv bin/gotestsum $@

check: build lint javascript tidy vuln long race wazero goldens browser npm cross

# The tests that `make test` leaves out because they take long: those that call testmachine.Long.
LONGFILES = $(shell grep -rl --include='*_test.go' 'testmachine\.Long(t)' bundler cmd devserver manifest migrate runtime toolapi)
LONGTESTS = $(shell awk '/^func Test/ { split($$2, word, /[^A-Za-z0-9_]/); name = word[1] } /testmachine\.Long\(t\)/ { print name }' $(LONGFILES))

long: build site $(SUM)
	PAGES_LONG=1 $(TEST) -run "^($$(echo $(LONGTESTS) | tr ' ' '|'))$$" $(addprefix ./,$(sort $(dir $(LONGFILES))))

lint: $(LINT)
	$(LINT) run ./...

$(LINT):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINTV)
	mv bin/golangci-lint $@

# All JavaScript of ours: as `make format` writes it, without the mistakes that style.jsonc names, and with types that
# fit. The types of npm packages that the runtime builds on come with the artifacts.
javascript: artifacts $(SCRIPTS)/node_modules/.package-lock.json
	$(BIOME) check $(STYLE) --error-on-warnings .
	$(SCRIPTS)/node_modules/.bin/tsc --project $(SCRIPTS)
	$(SCRIPTS)/node_modules/.bin/tsc --project $(SCRIPTS)/tsconfig.pages.json

format: $(SCRIPTS)/node_modules/.package-lock.json
	$(BIOME) format --write $(STYLE) .

$(SCRIPTS)/node_modules/.package-lock.json: $(SCRIPTS)/package-lock.json
	npm ci --prefix $(SCRIPTS) --ignore-scripts --no-audit --no-fund --loglevel=error

# Known vulnerabilities in what the command calls. Its database is asked over the network: where that cannot be reached,
# as a question about one module shows, nothing is looked for, which is said and is no failure.
vuln: $(VULN) artifacts
	@if $(VULN) -mode query -json stdlib@v1.26.0 > bin/govulncheck.txt 2>&1; then $(VULN) ./cmd/pages; \
	else echo "note: known vulnerabilities were not looked for: $$(tail -n 1 bin/govulncheck.txt)"; fi

$(VULN):
	GOBIN=$(CURDIR)/bin $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULNV)
	mv bin/govulncheck $@

# go.mod and go.sum say what the source needs, no more and no less.
tidy:
	$(GO) mod tidy -diff

# The race detector sees the packages whose code starts goroutines or has locks, other than for a pool of buffers. Of the largest it
# sees the tests in which requests, sessions or commands run at the same time, by their names. `make soak` runs all tests with it.
UNRACEDPACKAGES := cmd/tools/% runtime/engine runtime/intl runtime/intl/% runtime/wasm runtime/web/compression runtime/web/language
RACED = $(patsubst %,./%,$(filter-out $(UNRACEDPACKAGES) $(patsubst ./%,%,$(RACEDBYNAME)),$(shell grep -rlE --include='*.go' \
	--exclude='*_test.go' --exclude-dir=node_modules --exclude=translation.go \
	'\bgo func\b|\.Go\b|sync\.(Mutex|RWMutex|WaitGroup|Map|Pool|Cond)\b|atomic\.' \
	bundler cmd devserver manifest migrate runtime toolapi | xargs -n 1 dirname | sort -u)))
RACEDBYNAME := ./cmd/pages ./migrate ./toolapi/deploy ./toolapi/service
RACEDTESTS := TestScripts/^(dev_.*|engine_workerd|leads|logs|mcp|platform|preview|schedule|state_load)$$|^Test(Abandoned.*|.*AroundA.*|$\
	.*AtOnce|.*Beside.*|Concurrent.*|Dev(Keys|Migrates|HearsOf.*)|DiskCopy|Drain|EngineEnds|Frontend.*|Host|Inspect|LeadsAfter.*|$\
	ManySites|NodeBindings|Parallel.*|Platform|PlatformWorkerd|Published.*|Scheduled.*|SpamOnPlatform|StaleWhile.*|Storms|$\
	SwitchUnderLoad|Toxiproxy|TwoDeploys)$$
# One goroutine at a time is in an instance of quickjs.wasm, and looks at each of its accesses to memory would take minutes.
UNRACED := -gcflags='github.com/pages-toolchain/pages/runtime/engine/quickjs=-dwarf=false -race=false -d=checkptr=0'

# A program with the race detector sleeps a second before it ends, and the scripts start hundreds.
RACEEXIT := atexit_sleep_ms=10

race: build site $(SUM)
	CGO_ENABLED=1 GORACE=$(RACEEXIT) $(TEST) -race $(UNRACED) -short $(RACED)
	CGO_ENABLED=1 GORACE=$(RACEEXIT) $(TEST) -race $(UNRACED) -short -run '$(RACEDTESTS)' $(RACEDBYNAME)

# The engine's tests with quickjs.wasm in wazero, and not translated to Go.
wazero: artifacts $(SUM)
	$(GO) vet -tags wazero_engine ./runtime/engine
	$(TEST) -tags wazero_engine ./runtime/engine

# Goldens written anew must be the goldens that are committed. Those of the scripts need no second run: -update writes a
# script only where its cmp would fail, which fails `make test`.
goldens: build site
	$(GO) test ./manifest ./bundler -update
	git diff --exit-code -- testdata manifest bundler

# The pages in a real Chromium; `make test` passes without one.
browser: build site $(DRIVER)/node_modules/.package-lock.json
	$(GO) test -tags browser -run Browser ./cmd/pages ./devserver ./devserver/site

# What others wrote for MCP, against the service: its conformance suite, and the client that agents are made with.
npm: artifacts $(MCP)/node_modules/.package-lock.json
	$(GO) test -tags npm -run NPM ./toolapi/service

# What the pages look like, to be looked at: a picture of each main view in $(SHOTS), and those of README.md where it has them.
SHOTS ?= bin/screenshots

screenshots: build site $(DRIVER)/node_modules/.package-lock.json
	@mkdir -p $(SHOTS)
	$(GO) test -tags browser -count 1 -run Browser ./cmd/pages -args -screenshots $(abspath $(SHOTS))
	@mkdir -p testdata/readme && cp $(SHOTS)/readme-dashboard.png testdata/readme/dashboard.png && cp $(SHOTS)/readme-terminal.png testdata/readme/terminal.png

# Every system of a release that `make build` did not see, and both processors: all of our files, tests too, are type-checked,
# and none is compiled. `make release` compiles, for darwin/amd64 and windows/arm64 too: no file of ours is for one processor.
CROSS ?= linux/arm64 darwin/arm64 windows/amd64

cross: artifacts
	$(GO) run ./cmd/tools/crosscheck $(CROSS)

# All that a release is, in bin/release: archives, npm and Debian packages, a bill of materials, checksums. The same
# commit gives the same bytes.
RELEASE ?=

release: artifacts
	$(GO) run ./cmd/tools/release --version '$(VERSION)' --commit '$(shell git rev-parse HEAD 2>/dev/null)' --time '$(shell git log -1 --format=%ct 2>/dev/null || echo 0)' --out bin/release $(RELEASE)

# Every ratio that is promised, ours against the peer, in under 15 minutes; written to BENCHMARKS.md too. Peers that are
# not in PATH are named: BENCH='--wrangler … --node … --ajv …'.
bench: build site bin/pages-wazero
	$(GO) run ./cmd/tools/bench --out BENCHMARKS.md $(BENCH)

# The program with quickjs.wasm in wazero, which the benchmark compares with.
bin/pages-wazero: artifacts $(GOFILES)
	$(GO) build -tags wazero_engine -ldflags '$(LDFLAGS)' -o $@ ./cmd/pages

# An hour of everything that `make test` has no time for, with one summary: every fuzzer, every test that does more
# under PAGES_SOAK (kills, failing disks, power cuts as root, load), all tests with the race detector. What failed is
# in the summary, and what it printed in bin/soak. SOAK='--for 10m fuzz' takes part of it.
SOAK ?=

soak: build site
	@$(GO) run ./cmd/tools/soak $(SOAK)

clean:
	rm -rf bin runtime/engine/node_modules runtime/web/node_modules runtime/node/node_modules runtime/intl/dictionary/node_modules \
		$(SITE)/node_modules $(SITE)/.pages $(PACKS)/node_modules $(TYPES)/node_modules $(WORKERD)/node_modules $(VITE)/node_modules \
		$(DRIVER)/node_modules $(MCP)/node_modules $(SCRIPTS)/node_modules
	rm -f runtime/engine/artifact/quickjs.wasm runtime/engine/quickjs/translation.go runtime/artifact/prelude.js \
		runtime/artifact/boot.image runtime/node/artifact/modules.zip runtime/workerd/artifact/prelude.js \
		runtime/intl/dictionary/artifact/words.zip
	find runtime -name '*.stamp' -delete
