"""An independent reading of URL rule url/1, written from `spec/keys-1.md` section 8 and the WHATWG URL Standard.

Python 3.9 or later and its standard library. In: the text of a URL, a strength, host rules as in a ruleset. Out: the
canonical URL. A text without a URL key is a `UrlRefused` with its code. International host names need UTS #46, which
the standard library does not have: they are `NotCheckable`, no verdict either way.
"""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Optional, Sequence, Tuple

MAX_BYTES = 64 * 1024
STRENGTHS = ("exact", "page", "site")


def words(text: str) -> FrozenSet[str]:
    return frozenset(text.split())


# The frozen list, spec/tables/tracking.json.
TRACKING_PREFIXES = ("utm_",)
TRACKING_NAMES = words(
    """
    __hsfp __hssc __hstc __s __twitter_impression _bhlid _branch_match_id _branch_referrer _bta_c _bta_tid _ga
    _gac _gl _hsenc _hsmi _ke _kx _openstat action_object_map action_ref_map action_type_map adobe_mc
    adobe_mc_ref adobe_mc_sdid at_campaign at_campaign_type at_link_id at_link_origin at_link_type at_medium
    at_ptr_name at_recipient_id at_recipient_list ceneo_spo cjevent ck_subscriber_id cm_mmc dclid dm_i echobox
    ef_id elqtrack elqtrackid epik et_rid fb_action_ids fb_action_types fb_ref fb_source fbclid gad_campaignid
    gad_source gbraid gclid gclsrc gdffi gdfms gdftrk guccounter guce_referrer guce_referrer_sig hsa_acc
    hsa_ad hsa_cam hsa_grp hsa_kw hsa_la hsa_mt hsa_net hsa_ol hsa_src hsa_tgt hsa_ver hsctatracking igsh
    igshid ir_adid ir_campaignid ir_partnerid irclickid irgwc matomo_campaign matomo_cid matomo_content
    matomo_group matomo_keyword matomo_medium matomo_placement matomo_source mc_cid mc_eid mc_tc mibextid
    mindbox-click-id mindbox-message-key mkt_tok mkwid ml_subscriber ml_subscriber_hash msclkid mtm_campaign
    mtm_cid mtm_content mtm_group mtm_keyword mtm_kwd mtm_medium mtm_placement mtm_source ns_campaign ns_fee
    ns_linkname ns_mchannel ns_source oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk oly_anon_id
    oly_enc_id omnisendcontactid piwik_campaign piwik_keyword piwik_kwd pk_campaign pk_cid pk_content pk_cpn
    pk_keyword pk_kwd pk_medium pk_source raneaid ranmid ransiteid rb_clickid redirect_log_mongo_id
    redirect_mongo_id s_cid s_kwcid sb_referer_host sccid sfmc_activityid sfmc_id sms_click sms_source sms_uph
    spjobid spmailingid spreportid spuserid srsltid tblci trk_contact trk_module trk_msg trk_sid ttclid twclid
    unicorn_click_id vero_conv vero_id wbraid wickedid wt_mc wt_zmc xtor yclid ymclid ysclid zanpid
    """
)
SESSION_NAMES = ("jsessionid", "phpsessid")
INDEX_PAGES = ("index.html", "index.htm", "index.php", "default.aspx")


class UrlRefused(Exception):
    """A text without a URL key. `code` is url-relative, url-scheme, url-invalid or url-too-long."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class NotCheckable(Exception):
    """The answer depends on UTS #46."""


class Failure(Exception):
    """The URL parser returns failure."""


# ── The parser, WHATWG URL Standard section 4.4, without a base ──────────────────────────────────────────────────────

SPECIAL = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "file": None}
C0_SET = frozenset(map(chr, [*range(0x20), 0x7F]))
FRAGMENT_SET = C0_SET | set(' "<>`')
QUERY_SET = C0_SET | set(' "#<>')
SPECIAL_QUERY_SET = QUERY_SET | {"'"}
PATH_SET = QUERY_SET | set("?^`{}")
FORBIDDEN_HOST = frozenset("\0\t\n\r #/:<>?@[\\]^|")
FORBIDDEN_DOMAIN = FORBIDDEN_HOST | C0_SET | {"%"}


class Url(NamedTuple):
    """A parsed URL. `path` is as serialised; query and fragment are None where their sign is missing."""

    scheme: str
    credentials: bool
    host: str
    port: Optional[int]
    path: str
    query: Optional[str]
    fragment: Optional[str]

    def text(self) -> str:
        """The URL serializer (4.5), without user and password."""
        out = f"{self.scheme}://{self.host}" + ("" if self.port is None else f":{self.port}") + self.path
        out += "" if self.query is None else "?" + self.query
        return out + ("" if self.fragment is None else "#" + self.fragment)


def encoded(text: str, escaped: FrozenSet[str]) -> str:
    """UTF-8 percent-encode (1.3): every character of the set and every one beyond ASCII."""
    return "".join(
        "".join(f"%{byte:02X}" for byte in char.encode("utf-8")) if char in escaped or char > "~" else char
        for char in text
    )


def cleaned(text: str) -> str:
    """Without C0 controls and spaces around it and without tabs and line breaks inside (4.4, 1 to 3)."""
    return re.sub("[\t\n\r]", "", text.strip("".join(map(chr, range(0x21)))))


def scheme_of(text: str) -> Tuple[Optional[str], str]:
    """The scheme in lower case and what follows its colon; None where a cleaned text starts with no scheme."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", text)
    return (found.group(1).lower(), text[found.end() :]) if found else (None, text)


def split_tail(rest: str) -> Tuple[str, Optional[str], Optional[str]]:
    """What stands before the query, the query, the fragment."""
    rest, sharp, fragment = rest.partition("#")
    rest, mark, query = rest.partition("?")
    return rest, query if mark else None, fragment if sharp else None


def parsed(text: str) -> Optional[Url]:
    """The URL, or None for one that has no authority to speak of (`mailto:…`, `file:…`). Raises Failure."""
    scheme, rest = scheme_of(cleaned(text))
    if scheme is None:
        raise Failure
    body, query, fragment = split_tail(rest)
    special = scheme in SPECIAL
    slashes = "/\\" if special else "/"
    if scheme == "file":
        parse_file(body)
        return None
    if not special and not body.startswith("//"):
        return None
    body = body.lstrip(slashes) if special else body[2:]
    end = next((at for at, char in enumerate(body) if char in slashes), len(body))
    authority, path = body[:end], body[end:]
    user, at, address = authority.rpartition("@")
    host, port = split_port(address)
    if not host and (special or at or port is not None):
        raise Failure
    return Url(
        scheme,
        user not in ("", ":"),
        parse_host(host) if special else parse_opaque_host(host),
        parse_port(port, SPECIAL.get(scheme)),
        parse_path(path, special),
        None if query is None else encoded(query, SPECIAL_QUERY_SET if special else QUERY_SET),
        None if fragment is None else encoded(fragment, FRAGMENT_SET),
    )


def parse_file(body: str) -> None:
    """Only whether a file URL parses: its host, where it has one that is no drive letter."""
    if re.match(r"[/\\]{2}", body):
        host = re.split(r"[/\\]", body[2:], maxsplit=1)[0]
        if host and not re.fullmatch("[A-Za-z][:|]", host):
            parse_host(host)


def split_port(address: str) -> Tuple[str, Optional[str]]:
    """Host and port: the first colon that does not stand in brackets parts them."""
    inside = False
    for at, char in enumerate(address):
        if char == ":" and not inside:
            return address[:at], address[at + 1 :]
        inside = char == "[" or (inside and char != "]")
    return address, None


def parse_port(port: Optional[str], default: Optional[int]) -> Optional[int]:
    if not port:
        return None
    if not re.fullmatch("[0-9]+", port) or len(port.lstrip("0")) > 5 or int(port) > 0xFFFF:
        raise Failure
    return None if int(port) == default else int(port)


def parse_path(path: str, special: bool) -> str:
    """The path state: dot segments resolved, characters of the path set encoded."""
    if not path:
        return "/" if special else ""
    segments: List[str] = []
    given = re.split(r"[/\\]" if special else "/", path)[1:]
    for at, segment in enumerate(given):
        last = at == len(given) - 1
        dots = re.sub("%2e", ".", segment, flags=re.IGNORECASE)
        if dots in (".", ".."):
            if dots == ".." and segments:
                segments.pop()
            if last:
                segments.append("")
        else:
            segments.append(encoded(segment, PATH_SET))
    return "".join("/" + segment for segment in segments)


def parse_opaque_host(host: str) -> str:
    if host.startswith("["):
        return parse_host(host)
    if any(char in FORBIDDEN_HOST for char in host):
        raise Failure
    return encoded(host, C0_SET)


def parse_host(host: str) -> str:
    """The host parser (3.5) for hosts in ASCII."""
    if host.startswith("["):
        if not host.endswith("]"):
            raise Failure
        return "[" + ipv6_text(parse_ipv6(host[1:-1])) + "]"
    domain = decoded(host).decode("utf-8", "replace")
    if "\ufffd" in domain:
        raise Failure
    domain = lower(domain)
    if any(char > "\x7f" for char in domain) or any(label.startswith("xn--") for label in domain.split(".")):
        raise NotCheckable(f"host {host!r} needs UTS #46")
    if not domain or any(char in FORBIDDEN_DOMAIN for char in domain):
        raise Failure
    return ipv4_text(parse_ipv4(domain)) if ends_in_a_number(domain) else domain


def lower(text: str) -> str:
    """ASCII lower case."""
    return re.sub("[A-Z]+", lambda found: found.group().lower(), text)


def decoded(text: str) -> bytes:
    """Percent-decoded bytes (1.3)."""
    return re.sub(
        b"%([0-9A-Fa-f]{2})", lambda found: bytes([int(found.group(1), 16)]), text.encode("utf-8", "surrogatepass")
    )


def ends_in_a_number(domain: str) -> bool:
    parts = domain.split(".")
    if parts[-1] == "":
        if len(parts) == 1:
            return False
        parts.pop()
    return bool(re.fullmatch("[0-9]+|0[xX][0-9A-Fa-f]*", parts[-1]))


def parse_ipv4(domain: str) -> int:
    parts = domain.split(".")
    if parts[-1] == "" and len(parts) > 1:
        parts.pop()
    if len(parts) > 4:
        raise Failure
    numbers = [ipv4_number(part) for part in parts]
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= 1 << 8 * (5 - len(numbers)):
        raise Failure
    return numbers[-1] + sum(number << 8 * (3 - at) for at, number in enumerate(numbers[:-1]))


def ipv4_number(part: str) -> int:
    """Decimal, octal after 0, hexadecimal after 0x; nothing after 0x is 0."""
    for form, base in (("0[xX]([0-9A-Fa-f]*)", 16), ("0([0-7]+)", 8), ("([1-9][0-9]*|0)", 10)):
        found = re.fullmatch(form, part)
        if found:
            digits = found.group(1).lstrip("0")
            return int(digits or "0", base) if len(digits) < 40 else 1 << 64  # too large either way
    raise Failure


def ipv4_text(address: int) -> str:
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def parse_ipv6(text: str) -> List[int]:
    """Eight pieces of 16 bits (3.5, IPv6 parser)."""
    halves = text.split("::")
    if len(halves) > 2:
        raise Failure
    heads = [ipv6_pieces(half, last=at == len(halves) - 1) for at, half in enumerate(halves)]
    if len(halves) == 1:
        if len(heads[0]) != 8:
            raise Failure
        return heads[0]
    missing = 8 - len(heads[0]) - len(heads[1])
    if missing < 1:
        raise Failure
    return heads[0] + [0] * missing + heads[1]


def ipv6_pieces(half: str, last: bool) -> List[int]:
    if not half:
        return []
    parts = half.split(":")
    pieces: List[int] = []
    for at, part in enumerate(parts):
        if re.fullmatch("[0-9A-Fa-f]{1,4}", part):
            pieces.append(int(part, 16))
        elif last and at == len(parts) - 1 and re.fullmatch(r"(?:(?:0|[1-9][0-9]{0,2})(?:\.(?!\Z)|\Z)){4}", part):
            numbers = [int(number) for number in part.split(".")]
            if max(numbers) > 255:
                raise Failure
            pieces += [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
        else:
            raise Failure
    return pieces


def ipv6_text(pieces: Sequence[int]) -> str:
    """The IPv6 serializer: the first of the longest runs of at least two zeros is `::`."""
    best, length = -1, 1
    for at in range(8):
        run = 0
        while at + run < 8 and pieces[at + run] == 0:
            run += 1
        if run > length:
            best, length = at, run
    if best < 0:
        return ":".join(f"{piece:x}" for piece in pieces)
    head, tail = pieces[:best], pieces[best + length :]
    return ":".join(f"{piece:x}" for piece in head) + "::" + ":".join(f"{piece:x}" for piece in tail)


# ── The steps, keys-1.md section 8 ───────────────────────────────────────────────────────────────────────────────────


def each(url: Url, change: Callable[[str], str]) -> Url:
    """Path, query and fragment changed alike."""
    query = None if url.query is None else change(url.query)
    fragment = None if url.fragment is None else change(url.fragment)
    return url._replace(path=change(url.path), query=query, fragment=fragment)


def stray_percent(url: Url) -> Url:
    return each(url, lambda text: re.sub("%(?![0-9A-Fa-f]{2})", "%25", text))


def percent_encoding(url: Url) -> Url:
    def spelt(found: re.Match[str]) -> str:
        char = chr(int(found.group(1), 16))
        return char if re.fullmatch("[A-Za-z0-9._~-]", char) else found.group().upper()

    return each(url, lambda text: re.sub("%([0-9A-Fa-f]{2})", spelt, text))


def name_of(piece: str) -> str:
    return piece.partition("=")[0]


def query(url: Url) -> Url:
    """Everything that `page` does with the query."""
    if url.query is None:
        return url
    pieces = [piece if "=" in piece else piece + "=" for piece in url.query.split("&") if piece]
    pieces = [piece.replace("+", "%20") for piece in pieces]
    pieces = [piece for piece in pieces if not dropped(name_of(piece))]
    pieces.sort(key=name_of)
    return url._replace(query="&".join(pieces) or None)


def dropped(name: str) -> bool:
    """Whether a parameter is a tracking mark or a session id."""
    plain = decoded(name).lower().decode("latin-1")
    return plain in TRACKING_NAMES or plain in SESSION_NAMES or plain.startswith(TRACKING_PREFIXES)


def path_session(url: Url) -> Url:
    def is_session(parameter: str) -> bool:
        name, equals, _ = parameter.partition("=")
        return equals == "=" and decoded(name).lower() == b"jsessionid"

    def without(segment: str) -> str:
        name, *parameters = segment.split(";")
        return ";".join([name] + [parameter for parameter in parameters if not is_session(parameter)])

    return url._replace(path="/".join(map(without, url.path.split("/"))))


def fragment(url: Url) -> Url:
    return url if url.fragment and url.fragment[0] in "!/" else url._replace(fragment=None)


def host_rules(url: Url, hosts: Sequence[Dict[str, Any]]) -> Url:
    """The rules of the ruleset that are for this host, in order, until the path stays as it is."""
    rules = [rule for rule in hosts if is_for(rule, url.host)]
    while rules:
        before = url.path
        for rule in rules:
            url = host_rule(url, rule)
        if url.path == before:
            break
    return url


def is_for(rule: Dict[str, Any], host: str) -> bool:
    own = parse_host(rule["match"])
    return host == own or (bool(rule.get("subdomains")) and host.endswith("." + own))


def host_rule(url: Url, rule: Dict[str, Any]) -> Url:
    def listed(piece: str, names: Sequence[str]) -> bool:
        name = decoded(name_of(piece).replace("+", " ")).lower()
        return any(name == each.encode("utf-8").lower() for each in names)

    if url.query:
        given = url.query.split("&")
        kept = [piece for piece in given if "keep" not in rule or listed(piece, rule["keep"])]
        kept = [piece for piece in kept if not listed(piece, rule.get("drop", ()))]
        if kept != given:
            url = url._replace(query="&".join(kept) or None)
    for rewrite in rule.get("path", ()):
        while url.path.startswith(rewrite["from"]):
            url = url._replace(path=rewrite["to"] + url.path[len(rewrite["from"]) :])
    return url


def site(url: Url) -> Url:
    """http, www, index pages, trailing slashes."""
    host = url.host
    while host.startswith("www.") and sum(label != "" for label in host[4:].split(".")) >= 2:
        host = host[4:]
    path = url.path.rstrip("/")
    while path.rpartition("/")[2] in INDEX_PAGES:
        path = path.rpartition("/")[0].rstrip("/")
    return url._replace(scheme="https", host=host, path=path or "/")


def one_round(text: str, strength: str, hosts: Sequence[Dict[str, Any]]) -> str:
    try:
        url = parsed(text)
    except Failure:
        raise UrlRefused("url-invalid") from None
    assert url is not None, "http and https URLs have a host"
    url = stray_percent(url)
    if strength != "exact":
        url = fragment(path_session(query(percent_encoding(url))))
    url = host_rules(url, hosts)
    return (site(url) if strength == "site" else url).text()


def canonical_url(text: str, strength: str = "page", hosts: Sequence[Dict[str, Any]] = ()) -> str:
    """The canonical URL; `hosts` are the `[[url.host]]` tables of a ruleset. Raises UrlRefused and NotCheckable."""
    if strength not in STRENGTHS:
        raise ValueError(f"strength {strength!r} is none of {', '.join(STRENGTHS)}")
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise UrlRefused("url-too-long")
    scheme = scheme_of(cleaned(text))[0]
    if scheme not in ("http", "https"):
        raise UrlRefused("url-relative" if scheme is None else "url-scheme")
    before, after = text, one_round(text, strength, hosts)
    while before != after:
        before, after = after, one_round(after, strength, hosts)
    if len(after) > MAX_BYTES:
        raise UrlRefused("url-too-long")
    return after


# ── Credentials, keys-1.md section 8.3 ───────────────────────────────────────────────────────────────────────────────


def redact(text: str) -> str:
    """`text` without user and password, as receipts show it."""
    if "@" not in text:
        return text
    try:
        url = parsed(text)
    except Failure:
        return cut(text)
    if url is None or not url.host:  # `file:` among them, which has no credentials
        return cut(text)
    return url.text() if url.credentials else text


# The spaces, invisible characters and joiners of text/1: between slashes nobody sees them.
GAP = "\0-\x20\x7f\x85\xa0\xad\u034f\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufe0e\ufe0f\ufeff"
GAP += "\U0001d173-\U0001d17a\U000e0001"


def is_address(authority: str) -> bool:
    """Whether this is a host, whatever it is made of, with or without a colon and a port."""
    bracketed = re.match(r"\[[^\]]*\]", authority)
    if authority.startswith("[") and not bracketed:
        return False
    end = bracketed.end() if bracketed else len(authority.partition(":")[0])
    port = re.sub(f"[{GAP}]", "", authority[end:])
    digits = port[1:].lstrip("0")
    return re.fullmatch("(?::[0-9]*)?", port) is not None and len(digits) <= 5 and int(digits or "0") <= 0xFFFF


def cut(text: str) -> str:
    """A text in which the parser finds no host, without what looks like user and password between slashes and an @."""
    gaps = f"[/\\\\{GAP}]*"
    run = f"[/\\\\][{GAP}]*[/\\\\]{gaps}"
    first = re.match(f"[\0-\x20]*((?:[A-Za-z0-9+.-]|[\t\n\r])+):{gaps}", text)
    special = first is not None and lower(re.sub("[\t\n\r]", "", first.group(1))) in set(SPECIAL) - {"file"}
    out, rest = "", text
    found = first if special else re.search(run, rest)
    while found is not None:
        out, rest = out + rest[: found.end()], rest[found.end() :]
        authority = re.match(r"[^/\\?#]*", rest)
        assert authority is not None
        kept, rest = authority.group().rpartition("@")[2], rest[authority.end() :]
        if "@" in rest and not is_address(kept):
            return out + rest.rpartition("@")[2]
        out += kept
        joined = re.fullmatch(f"[{GAP}]*", kept) is not None and rest[:1] in ("/", "\\")
        found = re.match(gaps, rest) if joined else re.search(run, rest)
    return out + rest
