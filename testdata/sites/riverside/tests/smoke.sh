#!/bin/sh
# Run with: pages test -- sh tests/smoke.sh
set -eu
cookies=$(mktemp)
trap 'rm -f "$cookies"' EXIT

status() { curl -s -o /dev/null -w '%{http_code}' "$@"; }

test "$(status "$PAGES_URL/")" = 200
test "$(status "$PAGES_URL/minutes/")" = 401
test "$(status -c "$cookies" -d persona=member "$PAGES_URL/__pages/sign-in")" = 303
test "$(status -b "$cookies" "$PAGES_URL/minutes/")" = 200
test "$(status -d name=Ada "$PAGES_URL/__pages/forms/membership")" = 303
curl -s "$PAGES_URL/__pages/api/leads" | grep -q '"form":"membership"'
test "$(status -X POST -H "Authorization: Bearer $PAGES_TEST_TOKEN" -H 'Content-Type: application/json' "$PAGES_URL/__pages/api/test/reset")" = 200
curl -s "$PAGES_URL/__pages/api/leads" | grep -q '{"leads":\[\]}'
