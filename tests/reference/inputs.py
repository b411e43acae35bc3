"""A second reading of spec/inputs-1.md, sections 3 and 4: tables and arrays, with the standard library alone."""

import json
from typing import Dict, List, Optional, Tuple

Row = Dict[str, object]


class Unreadable(Exception):
    """The input as a whole is none of its format."""


def lines_of(data: bytes, encoding: str, offset: int) -> List[Tuple[int, bytes, str, bool]]:
    """Offset, bytes, text and whether they can be decoded, of each line with its end."""
    unit = len("\n".encode(encoding))
    found, start, at = [], 0, 0
    while at < len(data):
        at += unit
        if data[at - unit : at] == "\n".encode(encoding) or at >= len(data):
            raw = data[start:at]
            try:
                text, good = raw.decode(encoding), True
            except UnicodeError:
                text, good = raw.decode(encoding, "replace"), False
            found.append((offset + start, raw, text, good))
            start = at
    return found


def one_row(text: str, delimiter: str) -> Optional[Tuple[List[str], int]]:
    """The cells of the row at the start of a text, and the characters that it takes; None where it is none."""
    cells: List[str] = []
    at = 0
    while True:
        cell = ""
        if text[at : at + 1] == '"':
            at += 1
            while True:
                if at >= len(text):
                    return None
                if text[at : at + 2] == '""':
                    cell, at = cell + '"', at + 2
                elif text[at] == '"':
                    at += 1
                    break
                else:
                    cell, at = cell + text[at], at + 1
        else:
            while at < len(text) and text[at] not in ("\n", "\r", '"', delimiter):
                cell, at = cell + text[at], at + 1
        cells.append(cell)
        rest = text[at : at + 2]
        if rest in ("", "\r"):
            return cells, len(text)
        if rest[0] == "\n":
            return cells, at + 1
        if rest == "\r\n":
            return cells, at + 2
        if rest[0] != delimiter:
            return None
        at += 1


def table(data: bytes, delimiter: str = ",", encoding: str = "utf-8") -> List[Row]:
    """The rows of a table: line, offset, length, and `out` or `refused`. Raises Unreadable."""
    mark = "\ufeff".encode(encoding) if encoding.startswith("utf") else b""
    offset = len(mark) if data.startswith(mark) else 0
    lines = lines_of(data[offset:], encoding, offset)
    header: Optional[List[str]] = None
    rows: List[Row] = []
    at = 0
    while at < len(lines):
        taken, code = 1, None
        found = one_row("".join(text for _, _, text, _ in lines[at:]), delimiter)
        if found is None:
            code, cells = "invalid-csv", []
        else:
            cells, length = found
            while sum(len(text) for _, _, text, _ in lines[at : at + taken]) < length:
                taken += 1
        raw = b"".join(one for _, one, _, _ in lines[at : at + taken])
        for end in ("\n", "\r"):
            raw = raw.removesuffix(end.encode(encoding))
        if not all(good for _, _, _, good in lines[at : at + taken]):
            if encoding != "utf-8":
                code = "invalid-encoding"
            elif code is None:
                code = "invalid-utf8"
        if raw and header is None:
            if code or "" in cells or len(set(cells)) < len(cells):
                raise Unreadable(code or "names")
            header = cells
        elif raw and header is not None:
            if code is None and len(cells) != len(header):
                code = "ragged-row"
            row: Row = {"line": at + 1, "offset": lines[at][0], "length": len(raw)}
            rows.append({**row, "refused": code} if code else {**row, "out": written(header, cells)})
        at += taken
    return rows


def written(header: List[str], cells: List[str]) -> str:
    """The line of JSON of a row."""
    return json.dumps(dict(zip(header, cells)), ensure_ascii=False, separators=(",", ":"))


def array(data: bytes) -> List[Row]:
    """The elements of an array: line (its number), offset, and `out`, the text of its line. Raises Unreadable."""
    text = data.decode("latin-1")
    at = 3 if text.startswith("\xef\xbb\xbf") else 0
    at = spaces(text, at)
    if text[at : at + 1] != "[":
        raise Unreadable("start")
    at, rows = spaces(text, at + 1), []
    if text[at : at + 1] == "]":
        return ended(text, at + 1, rows)
    while True:
        end = element(text, at)
        raw = text[at:end]
        line = squeezed(raw) if "\n" in raw or "\r" in raw else raw
        rows.append({"line": len(rows) + 1, "offset": at, "out": line.encode("latin-1").decode("utf-8")})
        at = spaces(text, end)
        if text[at : at + 1] == "]":
            return ended(text, at + 1, rows)
        if text[at : at + 1] != ",":
            raise Unreadable("comma")
        at = spaces(text, at + 1)


def ended(text: str, at: int, rows: List[Row]) -> List[Row]:
    """The rows, if nothing follows."""
    if spaces(text, at) < len(text):
        raise Unreadable("trailing")
    return rows


def spaces(text: str, at: int) -> int:
    """Behind white space."""
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def element(text: str, at: int) -> int:
    """Behind the element that starts here."""
    start, open_, string = at, [], False
    while at < len(text):
        sign = text[at]
        if string:
            at += 2 if sign == "\\" else 1
            string = sign != '"'
            if not string and not open_:
                return at
            continue
        if not open_ and at > start and (sign in '[]{}",' or sign in " \t\r\n"):
            return at
        if not open_ and at == start and sign in ",]}:":
            raise Unreadable("element")
        string = sign == '"'
        if sign in "[{":
            open_.append({"[": "]", "{": "}"}[sign])
        elif sign in "]}":
            if not open_ or open_.pop() != sign:
                raise Unreadable("bracket")
            if not open_:
                return at + 1
        at += 1
    raise Unreadable("cut")


def squeezed(text: str) -> str:
    """Without white space outside strings."""
    out, string, at = "", False, 0
    while at < len(text):
        sign = text[at]
        step = 2 if string and sign == "\\" else 1
        if string or sign not in " \t\r\n":
            out += text[at : at + step]
        string ^= sign == '"'
        at += step
    return out
