package urlpattern

// textState is a state of the constructor string parser (URL Pattern standard, 2.2); those of parts
// have the part's own number.
type textState int

const (
	stateInit textState = urlParts + iota
	stateAuthority
	stateDone
)

type textParser struct {
	text      []rune
	tokens    []patternToken
	result    patternInit
	start, at int // tokens: the start of the part, and the current one
	step      int
	depth     int // of groups
	brackets  int // of the hostname
	state     textState
	special   bool
	schemes   bool // look for the protocol alone
}

// parsePatternText parses a constructor string, or only its protocol. special is true if the protocol may be one whose URLs have an
// authority.
func parsePatternText(text string, protocolOnly, special bool) (*patternInit, error) {
	tokens, err := tokenise(text, true)
	if err != nil {
		return nil, err
	}
	p := textParser{text: []rune(text), tokens: tokens, state: stateInit, special: special, schemes: protocolOnly}
	p.parse()
	if p.result[partHostname] != nil && p.result[partPort] == nil {
		p.result.set(partPort, "")
	}
	return &p.result, nil
}

func (p *textParser) parse() {
	for p.at < len(p.tokens) {
		p.step = 1
		switch kind := p.tokens[p.at].kind; {
		case kind == tokenEnd:
			if !p.endOfText() {
				return
			}
		case kind == tokenOpen:
			p.depth++
		case p.depth > 0 && kind == tokenClose:
			p.depth--
			p.read()
		case p.depth == 0:
			p.read()
		}
		if p.schemes && p.result[partProtocol] != nil {
			return
		}
		p.at += p.step
	}
}

// endOfText handles the end of the text; it returns false when all is read.
func (p *textParser) endOfText() bool {
	switch p.state {
	case stateInit:
		p.rewind()
		switch {
		case p.is(p.at, "#"):
			p.change(partHash, 1)
		case p.isSearch():
			p.change(partSearch, 1)
		default:
			p.change(partPathname, 0)
		}
		return true
	case stateAuthority:
		p.rewind()
		p.state = partHostname
		return true
	default:
		p.change(stateDone, 0)
		return false
	}
}

func (p *textParser) read() {
	switch p.state {
	case stateInit:
		if p.is(p.at, ":") {
			p.rewind()
			p.state = partProtocol
		}
	case partProtocol:
		switch {
		case !p.is(p.at, ":"):
		case p.is(p.at+1, "/") && p.is(p.at+2, "/"):
			p.change(stateAuthority, len("://"))
		case p.special:
			p.change(stateAuthority, 1)
		default:
			p.change(partPathname, 1)
		}
	case stateAuthority:
		if p.is(p.at, "@") {
			p.rewind()
			p.state = partUsername
		} else if p.is(p.at, "/") || p.isSearch() || p.is(p.at, "#") {
			p.rewind()
			p.state = partHostname
		}
	case partUsername:
		if p.is(p.at, ":") {
			p.change(partPassword, 1)
		} else if p.is(p.at, "@") {
			p.change(partHostname, 1)
		}
	case partPassword:
		if p.is(p.at, "@") {
			p.change(partHostname, 1)
		}
	case partHostname:
		switch {
		case p.is(p.at, "["):
			p.brackets++
		case p.is(p.at, "]"):
			p.brackets--
		case p.is(p.at, ":") && p.brackets == 0:
			p.change(partPort, 1)
		default:
			p.after(partPathname)
		}
	case partPort:
		p.after(partPathname)
	case partPathname:
		p.after(partSearch)
	case partSearch:
		p.after(partHash)
	default: // the hash extends to the end
	}
}

// after advances to the first of the last parts, from first on, that begins here.
func (p *textParser) after(first textState) {
	switch {
	case first <= partPathname && p.is(p.at, "/"):
		p.change(partPathname, 0)
	case first <= partSearch && p.isSearch():
		p.change(partSearch, 1)
	case p.is(p.at, "#"):
		p.change(partHash, 1)
	}
}

// change ends the part that is read. The parts between it and the next one are empty, not unknown.
func (p *textParser) change(to textState, skip int) {
	if p.state < urlParts {
		p.result.set(int(p.state), string(p.text[p.token(p.start).at:p.tokens[p.at].at]))
	}
	if p.state != stateInit && to != stateDone {
		early := p.state == partProtocol || p.state == stateAuthority || p.state == partUsername || p.state == partPassword
		if early && to >= partPort && to <= partHash {
			p.fill(partHostname, "")
		}
		early = early || p.state == partHostname || p.state == partPort
		if early && (to == partSearch || to == partHash) {
			path := ""
			if p.special {
				path = "/"
			}
			p.fill(partPathname, path)
		}
		if (early || p.state == partPathname) && to == partHash {
			p.fill(partSearch, "")
		}
	}
	p.state = to
	p.at += skip
	p.start = p.at
	p.step = 0
}

func (p *textParser) fill(part int, text string) {
	if p.result[part] == nil {
		p.result.set(part, text)
	}
}

func (p *textParser) rewind() {
	p.at = p.start
	p.step = 0
}

func (p *textParser) token(at int) *patternToken {
	return &p.tokens[min(at, len(p.tokens)-1)]
}

// is reports whether the token is this character, without a meaning of its own.
func (p *textParser) is(at int, value string) bool {
	t := p.token(at)
	return t.value == value && (t.kind == tokenChar || t.kind == tokenEscaped || t.kind == tokenInvalid)
}

// isSearch reports whether a question mark begins the search: after a group, it makes the group optional.
func (p *textParser) isSearch() bool {
	if p.is(p.at, "?") {
		return true
	}
	if p.token(p.at).value != "?" {
		return false
	}
	if p.at == 0 {
		return true
	}
	switch p.token(p.at - 1).kind {
	case tokenName, tokenExpression, tokenClose, tokenAsterisk:
		return false
	default:
		return true
	}
}
