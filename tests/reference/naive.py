"""An independent reading of keys/1, verdicts/1 and receipt/1, written from `spec/` alone.

Python 3.9 or later and its standard library are all it needs. It is slow and plain on purpose: the tests hold the fast
kernel against it, and a reader of `spec/` can hold it against the text.

In: lines of NDJSON as bytes and a ruleset as the dict that a TOML (or JSON) reader gives. Out: digests, verdicts and
receipts, byte for byte. What must not be keyed is a `Refused` with one of the codes of `spec/keys-1.md`. A character
whose properties this Python's Unicode does not hold as Unicode 17.0 does is a `NotCheckable`: no verdict either way.

Neither `json`, `float`, `str.split`, `str.strip()` without an argument, nor any locale decides a byte here.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import html.entities
import re
import sys
import unicodedata
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Set, Tuple, Union

sys.path.insert(0, __file__.rpartition("/")[0])  # the URL chapter is a file of its own beside this one

from urls import NotCheckable, UrlRefused, canonical_url, redact

UNICODE_VERSION = "17.0.0"
MAX_DEPTH = 128
MAX_DIGITS = 1000
MAX_LINE = 64 * 1024 * 1024


class Refused(Exception):
    """A line or value that must not be keyed. `code` is one of the closed set, `field` the member at fault or None."""

    def __init__(self, code: str, detail: str = "", field: Optional[str] = None) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code, self.detail, self.field = code, detail, field


# ── Unicode 17.0 facts that Python does not carry, or carries in another version ─────────────────────────────────────


def _ranges(text: str) -> List[Tuple[int, int]]:
    """Reads `300-36F 483` as sorted pairs of code points, both ends included."""
    pairs = (item.partition("-") for item in re.findall("[0-9A-F-]+", text))
    return [(int(low, 16), int(high or low, 16)) for low, _, high in pairs]


def _within(char: str, table: List[Tuple[int, int]]) -> bool:
    point, low, high = ord(char), 0, len(table)
    while low < high:
        middle = (low + high) // 2
        if point > table[middle][1]:
            low = middle + 1
        elif point < table[middle][0]:
            high = middle
        else:
            return True
    return False


# From UnicodeData, ArabicShaping (completed as DerivedJoiningType says) and emoji-data, each of version 17.0.0.
ASSIGNED = _ranges("""
    0-377 37A-37F 384-38A 38C 38E-3A1 3A3-52F 531-556 559-58A 58D-58F 591-5C7 5D0-5EA 5EF-5F4 600-70D 70F-74A
    74D-7B1 7C0-7FA 7FD-82D 830-83E 840-85B 85E 860-86A 870-891 897-983 985-98C 98F-990 993-9A8 9AA-9B0 9B2 9B6-9B9
    9BC-9C4 9C7-9C8 9CB-9CE 9D7 9DC-9DD 9DF-9E3 9E6-9FE A01-A03 A05-A0A A0F-A10 A13-A28 A2A-A30 A32-A33 A35-A36
    A38-A39 A3C A3E-A42 A47-A48 A4B-A4D A51 A59-A5C A5E A66-A76 A81-A83 A85-A8D A8F-A91 A93-AA8 AAA-AB0 AB2-AB3
    AB5-AB9 ABC-AC5 AC7-AC9 ACB-ACD AD0 AE0-AE3 AE6-AF1 AF9-AFF B01-B03 B05-B0C B0F-B10 B13-B28 B2A-B30 B32-B33
    B35-B39 B3C-B44 B47-B48 B4B-B4D B55-B57 B5C-B5D B5F-B63 B66-B77 B82-B83 B85-B8A B8E-B90 B92-B95 B99-B9A B9C
    B9E-B9F BA3-BA4 BA8-BAA BAE-BB9 BBE-BC2 BC6-BC8 BCA-BCD BD0 BD7 BE6-BFA C00-C0C C0E-C10 C12-C28 C2A-C39 C3C-C44
    C46-C48 C4A-C4D C55-C56 C58-C5A C5C-C5D C60-C63 C66-C6F C77-C8C C8E-C90 C92-CA8 CAA-CB3 CB5-CB9 CBC-CC4 CC6-CC8
    CCA-CCD CD5-CD6 CDC-CDE CE0-CE3 CE6-CEF CF1-CF3 D00-D0C D0E-D10 D12-D44 D46-D48 D4A-D4F D54-D63 D66-D7F D81-D83
    D85-D96 D9A-DB1 DB3-DBB DBD DC0-DC6 DCA DCF-DD4 DD6 DD8-DDF DE6-DEF DF2-DF4 E01-E3A E3F-E5B E81-E82 E84 E86-E8A
    E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE ED0-ED9 EDC-EDF F00-F47 F49-F6C F71-F97 F99-FBC FBE-FCC FCE-FDA
    1000-10C5 10C7 10CD 10D0-1248 124A-124D 1250-1256 1258 125A-125D 1260-1288 128A-128D 1290-12B0 12B2-12B5
    12B8-12BE 12C0 12C2-12C5 12C8-12D6 12D8-1310 1312-1315 1318-135A 135D-137C 1380-1399 13A0-13F5 13F8-13FD
    1400-169C 16A0-16F8 1700-1715 171F-1736 1740-1753 1760-176C 176E-1770 1772-1773 1780-17DD 17E0-17E9 17F0-17F9
    1800-1819 1820-1878 1880-18AA 18B0-18F5 1900-191E 1920-192B 1930-193B 1940 1944-196D 1970-1974 1980-19AB
    19B0-19C9 19D0-19DA 19DE-1A1B 1A1E-1A5E 1A60-1A7C 1A7F-1A89 1A90-1A99 1AA0-1AAD 1AB0-1ADD 1AE0-1AEB 1B00-1B4C
    1B4E-1BF3 1BFC-1C37 1C3B-1C49 1C4D-1C8A 1C90-1CBA 1CBD-1CC7 1CD0-1CFA 1D00-1F15 1F18-1F1D 1F20-1F45 1F48-1F4D
    1F50-1F57 1F59 1F5B 1F5D 1F5F-1F7D 1F80-1FB4 1FB6-1FC4 1FC6-1FD3 1FD6-1FDB 1FDD-1FEF 1FF2-1FF4 1FF6-1FFE
    2000-2064 2066-2071 2074-208E 2090-209C 20A0-20C1 20D0-20F0 2100-218B 2190-2429 2440-244A 2460-2B73 2B76-2CF3
    2CF9-2D25 2D27 2D2D 2D30-2D67 2D6F-2D70 2D7F-2D96 2DA0-2DA6 2DA8-2DAE 2DB0-2DB6 2DB8-2DBE 2DC0-2DC6 2DC8-2DCE
    2DD0-2DD6 2DD8-2DDE 2DE0-2E5D 2E80-2E99 2E9B-2EF3 2F00-2FD5 2FF0-303F 3041-3096 3099-30FF 3105-312F 3131-318E
    3190-31E5 31EF-321E 3220-A48C A490-A4C6 A4D0-A62B A640-A6F7 A700-A7DC A7F1-A82C A830-A839 A840-A877 A880-A8C5
    A8CE-A8D9 A8E0-A953 A95F-A97C A980-A9CD A9CF-A9D9 A9DE-A9FE AA00-AA36 AA40-AA4D AA50-AA59 AA5C-AAC2 AADB-AAF6
    AB01-AB06 AB09-AB0E AB11-AB16 AB20-AB26 AB28-AB2E AB30-AB6B AB70-ABED ABF0-ABF9 AC00-D7A3 D7B0-D7C6 D7CB-D7FB
    D800-FA6D FA70-FAD9 FB00-FB06 FB13-FB17 FB1D-FB36 FB38-FB3C FB3E FB40-FB41 FB43-FB44 FB46-FDCF FDF0-FE19
    FE20-FE52 FE54-FE66 FE68-FE6B FE70-FE74 FE76-FEFC FEFF FF01-FFBE FFC2-FFC7 FFCA-FFCF FFD2-FFD7 FFDA-FFDC
    FFE0-FFE6 FFE8-FFEE FFF9-FFFD 10000-1000B 1000D-10026 10028-1003A 1003C-1003D 1003F-1004D 10050-1005D
    10080-100FA 10100-10102 10107-10133 10137-1018E 10190-1019C 101A0 101D0-101FD 10280-1029C 102A0-102D0
    102E0-102FB 10300-10323 1032D-1034A 10350-1037A 10380-1039D 1039F-103C3 103C8-103D5 10400-1049D 104A0-104A9
    104B0-104D3 104D8-104FB 10500-10527 10530-10563 1056F-1057A 1057C-1058A 1058C-10592 10594-10595 10597-105A1
    105A3-105B1 105B3-105B9 105BB-105BC 105C0-105F3 10600-10736 10740-10755 10760-10767 10780-10785 10787-107B0
    107B2-107BA 10800-10805 10808 1080A-10835 10837-10838 1083C 1083F-10855 10857-1089E 108A7-108AF 108E0-108F2
    108F4-108F5 108FB-1091B 1091F-10939 1093F-10959 10980-109B7 109BC-109CF 109D2-10A03 10A05-10A06 10A0C-10A13
    10A15-10A17 10A19-10A35 10A38-10A3A 10A3F-10A48 10A50-10A58 10A60-10A9F 10AC0-10AE6 10AEB-10AF6 10B00-10B35
    10B39-10B55 10B58-10B72 10B78-10B91 10B99-10B9C 10BA9-10BAF 10C00-10C48 10C80-10CB2 10CC0-10CF2 10CFA-10D27
    10D30-10D39 10D40-10D65 10D69-10D85 10D8E-10D8F 10E60-10E7E 10E80-10EA9 10EAB-10EAD 10EB0-10EB1 10EC2-10EC7
    10ED0-10ED8 10EFA-10F27 10F30-10F59 10F70-10F89 10FB0-10FCB 10FE0-10FF6 11000-1104D 11052-11075 1107F-110C2
    110CD 110D0-110E8 110F0-110F9 11100-11134 11136-11147 11150-11176 11180-111DF 111E1-111F4 11200-11211
    11213-11241 11280-11286 11288 1128A-1128D 1128F-1129D 1129F-112A9 112B0-112EA 112F0-112F9 11300-11303
    11305-1130C 1130F-11310 11313-11328 1132A-11330 11332-11333 11335-11339 1133B-11344 11347-11348 1134B-1134D
    11350 11357 1135D-11363 11366-1136C 11370-11374 11380-11389 1138B 1138E 11390-113B5 113B7-113C0 113C2 113C5
    113C7-113CA 113CC-113D5 113D7-113D8 113E1-113E2 11400-1145B 1145D-11461 11480-114C7 114D0-114D9 11580-115B5
    115B8-115DD 11600-11644 11650-11659 11660-1166C 11680-116B9 116C0-116C9 116D0-116E3 11700-1171A 1171D-1172B
    11730-11746 11800-1183B 118A0-118F2 118FF-11906 11909 1190C-11913 11915-11916 11918-11935 11937-11938
    1193B-11946 11950-11959 119A0-119A7 119AA-119D7 119DA-119E4 11A00-11A47 11A50-11AA2 11AB0-11AF8 11B00-11B09
    11B60-11B67 11BC0-11BE1 11BF0-11BF9 11C00-11C08 11C0A-11C36 11C38-11C45 11C50-11C6C 11C70-11C8F 11C92-11CA7
    11CA9-11CB6 11D00-11D06 11D08-11D09 11D0B-11D36 11D3A 11D3C-11D3D 11D3F-11D47 11D50-11D59 11D60-11D65
    11D67-11D68 11D6A-11D8E 11D90-11D91 11D93-11D98 11DA0-11DA9 11DB0-11DDB 11DE0-11DE9 11EE0-11EF8 11F00-11F10
    11F12-11F3A 11F3E-11F5A 11FB0 11FC0-11FF1 11FFF-12399 12400-1246E 12470-12474 12480-12543 12F90-12FF2
    13000-13455 13460-143FA 14400-14646 16100-16139 16800-16A38 16A40-16A5E 16A60-16A69 16A6E-16ABE 16AC0-16AC9
    16AD0-16AED 16AF0-16AF5 16B00-16B45 16B50-16B59 16B5B-16B61 16B63-16B77 16B7D-16B8F 16D40-16D79 16E40-16E9A
    16EA0-16EB8 16EBB-16ED3 16F00-16F4A 16F4F-16F87 16F8F-16F9F 16FE0-16FE4 16FF0-16FF6 17000-18CD5 18CFF-18D1E
    18D80-18DF2 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B000-1B122 1B132 1B150-1B152 1B155 1B164-1B167 1B170-1B2FB
    1BC00-1BC6A 1BC70-1BC7C 1BC80-1BC88 1BC90-1BC99 1BC9C-1BCA3 1CC00-1CCFC 1CD00-1CEB3 1CEBA-1CED0 1CEE0-1CEF0
    1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D000-1D0F5 1D100-1D126 1D129-1D1EA 1D200-1D245 1D2C0-1D2D3 1D2E0-1D2F3
    1D300-1D356 1D360-1D378 1D400-1D454 1D456-1D49C 1D49E-1D49F 1D4A2 1D4A5-1D4A6 1D4A9-1D4AC 1D4AE-1D4B9 1D4BB
    1D4BD-1D4C3 1D4C5-1D505 1D507-1D50A 1D50D-1D514 1D516-1D51C 1D51E-1D539 1D53B-1D53E 1D540-1D544 1D546
    1D54A-1D550 1D552-1D6A5 1D6A8-1D7CB 1D7CE-1DA8B 1DA9B-1DA9F 1DAA1-1DAAF 1DF00-1DF1E 1DF25-1DF2A 1E000-1E006
    1E008-1E018 1E01B-1E021 1E023-1E024 1E026-1E02A 1E030-1E06D 1E08F 1E100-1E12C 1E130-1E13D 1E140-1E149
    1E14E-1E14F 1E290-1E2AE 1E2C0-1E2F9 1E2FF 1E4D0-1E4F9 1E5D0-1E5FA 1E5FF 1E6C0-1E6DE 1E6E0-1E6F5 1E6FE-1E6FF
    1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE 1E7F0-1E7FE 1E800-1E8C4 1E8C7-1E8D6 1E900-1E94B 1E950-1E959 1E95E-1E95F
    1EC71-1ECB4 1ED01-1ED3D 1EE00-1EE03 1EE05-1EE1F 1EE21-1EE22 1EE24 1EE27 1EE29-1EE32 1EE34-1EE37 1EE39 1EE3B
    1EE42 1EE47 1EE49 1EE4B 1EE4D-1EE4F 1EE51-1EE52 1EE54 1EE57 1EE59 1EE5B 1EE5D 1EE5F 1EE61-1EE62 1EE64
    1EE67-1EE6A 1EE6C-1EE72 1EE74-1EE77 1EE79-1EE7C 1EE7E 1EE80-1EE89 1EE8B-1EE9B 1EEA1-1EEA3 1EEA5-1EEA9
    1EEAB-1EEBB 1EEF0-1EEF1 1F000-1F02B 1F030-1F093 1F0A0-1F0AE 1F0B1-1F0BF 1F0C1-1F0CF 1F0D1-1F0F5 1F100-1F1AD
    1F1E6-1F202 1F210-1F23B 1F240-1F248 1F250-1F251 1F260-1F265 1F300-1F6D8 1F6DC-1F6EC 1F6F0-1F6FC 1F700-1F7D9
    1F7E0-1F7EB 1F7F0 1F800-1F80B 1F810-1F847 1F850-1F859 1F860-1F887 1F890-1F8AD 1F8B0-1F8BB 1F8C0-1F8C1
    1F8D0-1F8D8 1F900-1FA57 1FA60-1FA6D 1FA70-1FA7C 1FA80-1FA8A 1FA8E-1FAC6 1FAC8 1FACD-1FADC 1FADF-1FAEA
    1FAEF-1FAF8 1FB00-1FB92 1FB94-1FBFA 20000-2A6DF 2A700-2B81D 2B820-2CEAD 2CEB0-2EBE0 2EBF0-2EE5D 2F800-2FA1D
    30000-3134A 31350-33479 E0001 E0020-E007F E0100-E01EF F0000-FFFFD 100000-10FFFD
""")
JOINING_L = _ranges("""
    A872 10ACD 10AD7 10D00 10FCB
""")
JOINING_D = _ranges("""
    620 626 628 62A-62E 633-63F 641-647 649-64A 66E-66F 678-687 69A-6BF 6C1-6C2 6CC 6CE 6D0-6D1 6FA-6FC 6FF 712-714
    71A-71D 71F-727 729 72B 72D-72E 74E-758 75C-76A 76D-770 772 775-777 77A-77F 7CA-7EA 841-845 848 84A-853 855 860
    862-865 868 886 889-88D 88F 8A0-8A9 8AF-8B0 8B3-8B8 8BA-8C8 1807 1820-1878 1887-18A8 18AA A840-A871 10AC0-10AC4
    10AD3-10AD6 10AD8-10ADC 10ADE-10AE0 10AEB-10AEE 10B80 10B82 10B86-10B88 10B8A-10B8B 10B8D 10B90 10BAD-10BAE
    10D01-10D21 10D23 10EC3-10EC4 10EC6-10EC7 10F30-10F32 10F34-10F44 10F51-10F53 10F70-10F73 10F76-10F81 10FB0
    10FB2-10FB3 10FB8 10FBB-10FBC 10FBE-10FBF 10FC1 10FC4 10FCA 1E900-1E943
""")
JOINING_R = _ranges("""
    622-625 627 629 62F-632 648 671-673 675-677 688-699 6C0 6C3-6CB 6CD 6CF 6D2-6D3 6D5 6EE-6EF 710 715-719 71E 728
    72A 72C 72F 74D 759-75B 76B-76C 771 773-774 778-779 840 846-847 849 854 856-858 867 869-86A 870-882 88E 8AA-8AC
    8AE 8B1-8B2 8B9 10AC5 10AC7 10AC9-10ACA 10ACE-10AD2 10ADD 10AE1 10AE4 10AEF 10B81 10B83-10B85 10B89 10B8C
    10B8E-10B8F 10B91 10BA9-10BAC 10D22 10EC2 10F33 10F54 10F74-10F75 10FB4-10FB6 10FB9-10FBA 10FBD 10FC2-10FC3
    10FC9
""")
JOINING_T = _ranges("""
    AD 300-36F 483-489 591-5BD 5BF 5C1-5C2 5C4-5C5 5C7 610-61A 61C 64B-65F 670 6D6-6DC 6DF-6E4 6E7-6E8 6EA-6ED 70F
    711 730-74A 7A6-7B0 7EB-7F3 7FD 816-819 81B-823 825-827 829-82D 859-85B 897-89F 8CA-8E1 8E3-902 93A 93C 941-948
    94D 951-957 962-963 981 9BC 9C1-9C4 9CD 9E2-9E3 9FE A01-A02 A3C A41-A42 A47-A48 A4B-A4D A51 A70-A71 A75 A81-A82
    ABC AC1-AC5 AC7-AC8 ACD AE2-AE3 AFA-AFF B01 B3C B3F B41-B44 B4D B55-B56 B62-B63 B82 BC0 BCD C00 C04 C3C C3E-C40
    C46-C48 C4A-C4D C55-C56 C62-C63 C81 CBC CBF CC6 CCC-CCD CE2-CE3 D00-D01 D3B-D3C D41-D44 D4D D62-D63 D81 DCA
    DD2-DD4 DD6 E31 E34-E3A E47-E4E EB1 EB4-EBC EC8-ECE F18-F19 F35 F37 F39 F71-F7E F80-F84 F86-F87 F8D-F97 F99-FBC
    FC6 102D-1030 1032-1037 1039-103A 103D-103E 1058-1059 105E-1060 1071-1074 1082 1085-1086 108D 109D 135D-135F
    1712-1714 1732-1733 1752-1753 1772-1773 17B4-17B5 17B7-17BD 17C6 17C9-17D3 17DD 180B-180D 180F 1885-1886 18A9
    1920-1922 1927-1928 1932 1939-193B 1A17-1A18 1A1B 1A56 1A58-1A5E 1A60 1A62 1A65-1A6C 1A73-1A7C 1A7F 1AB0-1ADD
    1AE0-1AEB 1B00-1B03 1B34 1B36-1B3A 1B3C 1B42 1B6B-1B73 1B80-1B81 1BA2-1BA5 1BA8-1BA9 1BAB-1BAD 1BE6 1BE8-1BE9
    1BED 1BEF-1BF1 1C2C-1C33 1C36-1C37 1CD0-1CD2 1CD4-1CE0 1CE2-1CE8 1CED 1CF4 1CF8-1CF9 1DC0-1DFF 200B 200E-200F
    202A-202E 2060-2064 206A-206F 20D0-20F0 2CEF-2CF1 2D7F 2DE0-2DFF 302A-302D 3099-309A A66F-A672 A674-A67D
    A69E-A69F A6F0-A6F1 A802 A806 A80B A825-A826 A82C A8C4-A8C5 A8E0-A8F1 A8FF A926-A92D A947-A951 A980-A982 A9B3
    A9B6-A9B9 A9BC-A9BD A9E5 AA29-AA2E AA31-AA32 AA35-AA36 AA43 AA4C AA7C AAB0 AAB2-AAB4 AAB7-AAB8 AABE-AABF AAC1
    AAEC-AAED AAF6 ABE5 ABE8 ABED FB1E FE00-FE0F FE20-FE2F FEFF FFF9-FFFB 101FD 102E0 10376-1037A 10A01-10A03
    10A05-10A06 10A0C-10A0F 10A38-10A3A 10A3F 10AE5-10AE6 10D24-10D27 10D69-10D6D 10EAB-10EAC 10EFA-10EFF
    10F46-10F50 10F82-10F85 11001 11038-11046 11070 11073-11074 1107F-11081 110B3-110B6 110B9-110BA 110C2
    11100-11102 11127-1112B 1112D-11134 11173 11180-11181 111B6-111BE 111C9-111CC 111CF 1122F-11231 11234
    11236-11237 1123E 11241 112DF 112E3-112EA 11300-11301 1133B-1133C 11340 11366-1136C 11370-11374 113BB-113C0
    113CE 113D0 113D2 113E1-113E2 11438-1143F 11442-11444 11446 1145E 114B3-114B8 114BA 114BF-114C0 114C2-114C3
    115B2-115B5 115BC-115BD 115BF-115C0 115DC-115DD 11633-1163A 1163D 1163F-11640 116AB 116AD 116B0-116B5 116B7
    1171D 1171F 11722-11725 11727-1172B 1182F-11837 11839-1183A 1193B-1193C 1193E 11943 119D4-119D7 119DA-119DB
    119E0 11A01-11A0A 11A33-11A38 11A3B-11A3E 11A47 11A51-11A56 11A59-11A5B 11A8A-11A96 11A98-11A99 11B60
    11B62-11B64 11B66 11C30-11C36 11C38-11C3D 11C3F 11C92-11CA7 11CAA-11CB0 11CB2-11CB3 11CB5-11CB6 11D31-11D36
    11D3A 11D3C-11D3D 11D3F-11D45 11D47 11D90-11D91 11D95 11D97 11EF3-11EF4 11F00-11F01 11F36-11F3A 11F40 11F42
    11F5A 13430-13440 13447-13455 1611E-16129 1612D-1612F 16AF0-16AF4 16B30-16B36 16F4F 16F8F-16F92 16FE4
    1BC9D-1BC9E 1BCA0-1BCA3 1CF00-1CF2D 1CF30-1CF46 1D167-1D169 1D173-1D182 1D185-1D18B 1D1AA-1D1AD 1D242-1D244
    1DA00-1DA36 1DA3B-1DA6C 1DA75 1DA84 1DA9B-1DA9F 1DAA1-1DAAF 1E000-1E006 1E008-1E018 1E01B-1E021 1E023-1E024
    1E026-1E02A 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E6E3 1E6E6 1E6EE-1E6EF 1E6F5
    1E8D0-1E8D6 1E944-1E94B E0001 E0020-E007F E0100-E01EF
""")
EXTENDED_PICTOGRAPHIC = _ranges("""
    A9 AE 203C 2049 2122 2139 2194-2199 21A9-21AA 231A-231B 2328 23CF 23E9-23F3 23F8-23FA 24C2 25AA-25AB 25B6 25C0
    25FB-25FE 2600-2604 260E 2611 2614-2615 2618 261D 2620 2622-2623 2626 262A 262E-262F 2638-263A 2640 2642
    2648-2653 265F-2660 2663 2665-2666 2668 267B 267E-267F 2692-2697 2699 269B-269C 26A0-26A1 26A7 26AA-26AB
    26B0-26B1 26BD-26BE 26C4-26C5 26C8 26CE-26CF 26D1 26D3-26D4 26E9-26EA 26F0-26F5 26F7-26FA 26FD 2702 2705
    2708-270D 270F 2712 2714 2716 271D 2721 2728 2733-2734 2744 2747 274C 274E 2753-2755 2757 2763-2764 2795-2797
    27A1 27B0 27BF 2934-2935 2B05-2B07 2B1B-2B1C 2B50 2B55 3030 303D 3297 3299 1F004 1F02C-1F02F 1F094-1F09F
    1F0AF-1F0B0 1F0C0 1F0CF-1F0D0 1F0F6-1F0FF 1F170-1F171 1F17E-1F17F 1F18E 1F191-1F19A 1F1AE-1F1E5 1F201-1F20F
    1F21A 1F22F 1F232-1F23A 1F23C-1F23F 1F249-1F25F 1F266-1F321 1F324-1F393 1F396-1F397 1F399-1F39B 1F39E-1F3F0
    1F3F3-1F3F5 1F3F7-1F3FA 1F400-1F4FD 1F4FF-1F53D 1F549-1F54E 1F550-1F567 1F56F-1F570 1F573-1F57A 1F587
    1F58A-1F58D 1F590 1F595-1F596 1F5A4-1F5A5 1F5A8 1F5B1-1F5B2 1F5BC 1F5C2-1F5C4 1F5D1-1F5D3 1F5DC-1F5DE 1F5E1
    1F5E3 1F5E8 1F5EF 1F5F3 1F5FA-1F64F 1F680-1F6C5 1F6CB-1F6D2 1F6D5-1F6E5 1F6E9 1F6EB-1F6F0 1F6F3-1F6FF
    1F7DA-1F7FF 1F80C-1F80F 1F848-1F84F 1F85A-1F85F 1F888-1F88F 1F8AE-1F8AF 1F8BC-1F8BF 1F8C2-1F8CF 1F8D9-1F8FF
    1F90C-1F93A 1F93C-1F945 1F947-1F9FF 1FA58-1FA5F 1FA6E-1FAFF 1FC00-1FFFD
""")
EMOJI_MODIFIER = _ranges("""
    1F3FB-1F3FF
""")
VIRAMA = _ranges("""
    94D 9CD A4D ACD B4D BCD C4D CCD D3B-D3C D4D DCA E3A EBA F84 1039-103A 1714-1715 1734 17D2 1A60 1B44 1BAA-1BAB
    1BF2-1BF3 2D7F A806 A82C A8C4 A953 A9C0 AAF6 ABED 10A3F 11046 11070 1107F 110B9 11133-11134 111C0 11235 112EA
    1134D 113CE-113D0 11442 114C2 115BF 1163F 116B6 1172B 11839 1193D-1193E 119E0 11A34 11A47 11A99 11C3F
    11D44-11D45 11D97 11F41-11F42 1612F
""")


def known(text: str) -> str:
    """Gives `text` back, or raises NotCheckable where this Python's Unicode and Unicode 17.0 differ on a character.

    Unicode promises (Character Encoding Stability Policies) that NFC and case folding of assigned characters never
    change; what another version has not assigned, or has assigned since, is another matter.
    """
    for char in text:
        if char > "\x7f" and (unicodedata.category(char) != "Cn") != _within(char, ASSIGNED):
            raise NotCheckable(f"U+{ord(char):04X} is not the same in Unicode {unicodedata.unidata_version} and 17.0")
    return text


# ── Reading a line: strict JSON (RFC 8259, RFC 7493), numbers as written ─────────────────────────────────────────────


class Number(str):
    """A JSON number as it was written."""

    __slots__ = ()


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_BLANKS = re.compile(r"[ \t\n\r]*")
_HEX4 = re.compile(r"[0-9A-Fa-f]{4}")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Parsed:
    """One JSON text, left to right. Syntax and depth are raised at once; the two faults of meaning are noted."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.unpaired = self.repeated = False
        self.record: Dict[str, Any] = {}
        self.spans: List[Tuple[str, int, int]] = []  # (name, start, end) of each member of the outermost object

    def document(self) -> Any:
        self.blanks()
        value = self.value(0)
        self.blanks()
        if self.at < len(self.text):
            raise self.wrong("something follows the value")
        return value

    def wrong(self, what: str) -> Refused:
        return Refused("invalid-json", f"{what}, at character {self.at + 1}")

    def blanks(self) -> None:
        self.at = _BLANKS.match(self.text, self.at).end()  # type: ignore[union-attr]

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, char: str) -> bool:
        if self.peek() != char:
            return False
        self.at += 1
        return True

    def value(self, depth: int) -> Any:
        char = self.peek()
        if char in ("{", "["):
            if depth == MAX_DEPTH:
                raise Refused("too-deep", f"more than {MAX_DEPTH} levels, at character {self.at + 1}")
            self.at += 1
            return self.object(depth + 1) if char == "{" else self.array(depth + 1)
        if char == '"':
            return self.string()
        for word, meaning in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return meaning
        number = _NUMBER.match(self.text, self.at)
        if not number:
            raise self.wrong("no value")
        self.at = number.end()
        return Number(number.group())

    def array(self, depth: int) -> List[Any]:
        items: List[Any] = []
        self.blanks()
        if self.take("]"):
            return items
        while True:
            self.blanks()
            items.append(self.value(depth))
            self.blanks()
            if self.take("]"):
                return items
            if not self.take(","):
                raise self.wrong("no comma between two items")

    def object(self, depth: int) -> Dict[str, Any]:
        members: Dict[str, Any] = {}
        self.blanks()
        if self.take("}"):
            return members
        while True:
            self.blanks()
            start = self.at
            if self.peek() != '"':
                raise self.wrong("no member name")
            name = self.string()
            self.blanks()
            if not self.take(":"):
                raise self.wrong("no colon after a member name")
            self.blanks()
            value = self.value(depth)
            self.repeated = self.repeated or name in members
            members[name] = value
            if depth == 1:
                self.spans.append((name, start, self.at))
            self.blanks()
            if self.take("}"):
                return members
            if not self.take(","):
                raise self.wrong("no comma between two members")

    def string(self) -> str:
        self.at += 1
        parts: List[str] = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            parts.append(plain.group())  # type: ignore[union-attr]
            self.at = plain.end()  # type: ignore[union-attr]
            if self.take('"'):
                return "".join(parts)
            if not self.take("\\"):
                raise self.wrong("a string without its end, or a control character in it")
            char = self.peek()
            if char == "u":
                parts.append(self.unicode_escape())
            elif char in _ESCAPES and char:
                self.at += 1
                parts.append(_ESCAPES[char])
            else:
                raise self.wrong("an unknown escape")

    def unicode_escape(self) -> str:
        """Reads from the `u` on; a high and a low surrogate side by side are one character."""
        unit = self.hex4()
        if 0xD800 <= unit <= 0xDBFF and self.text.startswith("\\u", self.at):
            back = self.at
            self.at += 1
            low = self.hex4()
            if 0xDC00 <= low <= 0xDFFF:
                return chr(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
            self.at = back
        self.unpaired = self.unpaired or 0xD800 <= unit <= 0xDFFF
        return chr(unit)

    def hex4(self) -> int:
        digits = _HEX4.match(self.text, self.at + 1)
        if not digits:
            raise self.wrong("an escape without four hex digits")
        self.at += 5
        return int(digits.group(), 16)


def read_parts(line: bytes, limit: int = MAX_LINE) -> Parsed:
    """Reads one line as one record. The parser given back holds `record` and the spans of its members.

    Raises Refused with the first of: line-too-long, invalid-utf8, invalid-json or too-deep (whichever comes first from
    the left), not-an-object, unpaired-surrogate, repeated-member.
    """
    if len(line) > limit:
        raise Refused("line-too-long", f"{len(line)} bytes; the limit is {limit}")
    try:
        text = line.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise Refused("invalid-utf8", f"at byte {error.start + 1}") from None
    parser = Parsed(text)
    record = parser.document()
    if not isinstance(record, dict):
        raise Refused("not-an-object")
    if parser.unpaired:
        raise Refused("unpaired-surrogate")
    if parser.repeated:
        raise Refused("repeated-member")
    parser.record = record
    return parser


def read_record(line: bytes, limit: int = MAX_LINE) -> Dict[str, Any]:
    """One line's record: str, Number, bool, None, list and dict. Raises Refused as `read_parts` does."""
    return read_parts(line, limit).record


class Line(NamedTuple):
    """`number` counts every line from 1; `offset` is where the line starts; `data` has neither LF nor the CR before."""

    number: int
    offset: int
    data: bytes


def lines(data: bytes) -> Iterator[Line]:
    """The lines of an input that are not blank: split at LF only, one CR stripped, a BOM at the start skipped."""
    offset = 3 if data.startswith(b"\xef\xbb\xbf") else 0
    number = 0
    while offset < len(data):
        number += 1
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        line = data[offset:end]
        line = line[:-1] if line.endswith(b"\r") else line
        if line.strip(b" \t\r"):
            yield Line(number, offset, line)
        offset = end + 1


# ── Exact decimals ───────────────────────────────────────────────────────────────────────────────────────────────────


class Exact(NamedTuple):
    """`digits` × 10^`exponent`, with neither leading nor trailing zero digits; zero is `0` × 10^0 without a sign."""

    sign: str
    digits: str
    exponent: int


_DECIMAL = re.compile(r"([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?)([0-9]+))?\Z")


def exact(text: str) -> Optional[Exact]:
    """The exact value of `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?`, or None for any other text.

    Raises Refused number-too-long for an exponent of more than 18 digits, leading zeros aside, unless the value is 0.
    """
    match = _DECIMAL.match(text)
    if not match:
        return None
    sign, whole, part, bare, exponent_sign, exponent_digits = match.groups(default="")
    fraction, exponent_digits = part or bare, exponent_digits.lstrip("0")
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return Exact("", "0", 0)
    if len(exponent_digits) > 18:
        raise Refused("number-too-long", "an exponent of more than 18 digits")
    exponent = int(exponent_sign + (exponent_digits or "0")) - len(fraction)
    stripped = digits.rstrip("0")
    return Exact("-" if sign == "-" else "", stripped, exponent + len(digits) - len(stripped))


def plain(value: Exact) -> Optional[str]:
    """The value written out without exponent, or None where that takes more than 1,000 digit characters."""
    sign, digits, exponent = value
    point = len(digits) + exponent
    if max(len(digits), point, len(digits) - point + 1 if point <= 0 else 0) > MAX_DIGITS:
        return None
    if exponent >= 0:
        return sign + digits + "0" * exponent
    if point > 0:
        return sign + digits[:point] + "." + digits[point:]
    return sign + "0." + "0" * -point + digits


def written_out(text: str) -> str:
    """The exact decimal text of a JSON number. Raises Refused number-too-long."""
    value = exact(text)
    out = None if value is None else plain(value)
    if out is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
    return out


def with_exponent(value: Exact) -> str:
    """`d[.ddd]e+N` or `e-N`: how a payload writes a number that is too long to be written out."""
    sign, digits, exponent = value
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{exponent + len(digits) - 1:+d}"


# ── Exact canonical JSON ─────────────────────────────────────────────────────────────────────────────────────────────


_SHORT = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def json_string(text: str) -> str:
    r"""RFC 8785 3.2.2.2: the seven short escapes, `\u00xx` for the other controls below U+0020, all else as it is."""
    out = [_SHORT.get(ord(c), c if c >= " " else f"\\u{ord(c):04x}") for c in text]
    return '"' + "".join(out) + '"'


def utf16_order(text: str) -> bytes:
    """Sort key: UTF-16 code units (RFC 8785 3.2.3), which is not code point order once a name leaves the BMP."""
    return text.encode("utf-16-be", "surrogatepass")


def _written(value: Any, long_numbers: bool) -> str:
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (Number, Exact)):
        number = exact(value) if isinstance(value, Number) else value
        assert number is not None  # the reader let no other text through
        out = plain(number)
        if out is None and not long_numbers:
            raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
        return with_exponent(number) if out is None else out
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return json_string(value)
    if isinstance(value, list):
        return "[" + ",".join(_written(item, long_numbers) for item in value) + "]"
    if isinstance(value, dict):
        names = sorted(value, key=utf16_order)
        return "{" + ",".join(json_string(n) + ":" + _written(value[n], long_numbers) for n in names) + "}"
    raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)


def canonical_json(value: Any, long_numbers: bool = False) -> bytes:
    """Exact canonical JSON of what the reader gives (and of int). `long_numbers` is the payload's form of number."""
    return _written(value, long_numbers).encode("utf-8")


# ── Text: rule text/1 ────────────────────────────────────────────────────────────────────────────────────────────────

SPACES = frozenset(
    [chr(c) for c in (*range(0x09, 0x0E), *range(0x1C, 0x21), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))]
    + [chr(c) for c in (0x2028, 0x2029, 0x202F, 0x205F, 0x3000)]
)
INVISIBLES = frozenset(
    [chr(c) for c in (*range(0x09), *range(0x0E, 0x1C), 0x7F, 0xAD, 0x34F, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F)]
    + [chr(c) for c in (*range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFE0E, 0xFE0F, 0xFEFF)]
    + [chr(c) for c in (*range(0x1D173, 0x1D17B), 0xE0001)]
)
TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    "\u2026": "...",
}
_FLAG_OR_TAG = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0020-\U000e007f]")
_JOINERS = re.compile("[\u200c\u200d]+")


def trimmed(text: str) -> str:
    """`text` without the characters of step `spaces` at both ends."""
    start, end = 0, len(text)
    while start < end and text[start] in SPACES:
        start += 1
    while end > start and text[end - 1] in SPACES:
        end -= 1
    return text[start:end]


def compose(text: str, compatibility: bool = False) -> str:
    return unicodedata.normalize("NFKC" if compatibility else "NFC", text)


def spaces(text: str) -> str:
    return "".join(" " if c in SPACES else c for c in text)


def invisibles(text: str) -> str:
    return "".join(c for c in text if c not in INVISIBLES)


def typography(text: str) -> str:
    return "".join(TYPOGRAPHY.get(c, c) for c in text)


def joiners(text: str) -> str:
    """Tags outside flags go; then each run of U+200C / U+200D becomes the one joiner that its place allows, or none.

    All runs are decided on the text as it stands after the tags are gone.
    """
    text = _FLAG_OR_TAG.sub(lambda m: m.group(1) or "", text)

    def one(run: Any) -> str:
        start, end = run.span()
        virama = _after_virama(text, start)
        if "\u200d" in run.group() and (virama or _emoji_pair(text, start, end)):
            return "\u200d"
        if "\u200c" in run.group() and (virama or _joining_pair(text, start, end)):
            return "\u200c"
        return ""

    return _JOINERS.sub(one, text)


def _after_virama(text: str, start: int) -> bool:
    """UAX #31 2.3 A2: a virama is among the marks (ccc other than 0) directly before the joiner."""
    at = start - 1
    while at >= 0 and unicodedata.combining(text[at]):
        if _within(text[at], VIRAMA):
            return True
        at -= 1
    return False


def _emoji_pair(text: str, start: int, end: int) -> bool:
    """UTS #51 ED-16: a pictograph, or a skin tone that ends one, then the joiner, then a pictograph."""
    if start == 0 or end == len(text) or not _within(text[end], EXTENDED_PICTOGRAPHIC):
        return False
    return _within(text[start - 1], EXTENDED_PICTOGRAPHIC) or _within(text[start - 1], EMOJI_MODIFIER)


def _joining_pair(text: str, start: int, end: int) -> bool:
    """RFC 5892 A.1, UAX #31 2.3 A1: (L or D) T* joiner T* (R or D)."""
    left, right = start - 1, end
    while left >= 0 and _within(text[left], JOINING_T):
        left -= 1
    while right < len(text) and _within(text[right], JOINING_T):
        right += 1
    if left < 0 or right == len(text):
        return False
    opens = _within(text[left], JOINING_L) or _within(text[left], JOINING_D)
    return opens and (_within(text[right], JOINING_R) or _within(text[right], JOINING_D))


def casefold(text: str) -> str:
    """NFD, then full case folding without locale (Unicode D145): CaseFolding.txt statuses C and F.

    Python documents str.casefold as section 3.13 of the standard, and tests hold it against CaseFolding-17.0.0.txt.
    """
    return unicodedata.normalize("NFD", text).casefold()


def collapse(text: str) -> str:
    return re.sub(" +", " ", text).strip(" ")


def text_1(text: str, fold: bool = True, compatibility: bool = False) -> str:
    """The normal form of `text` under text/1: the steps, repeated until nothing changes."""
    known(text)
    while True:
        before = text
        text = compose(text, compatibility)
        text = joiners(typography(invisibles(spaces(text))))
        text = casefold(text) if fold else text
        text = collapse(compose(text, compatibility))
        if text == before:
            return text


# ── Codes: text/1, then separators ───────────────────────────────────────────────────────────────────────────────────


def _letter_or_digit(char: str) -> str:
    category = unicodedata.category(char) if char else ""
    return "letter" if category[:1] == "L" else "digit" if category == "Nd" else ""


def separators(text: str) -> str:
    """Runs of space, `-` and `_`: one `-` between two letters or two digits, or leading with a `-` before a digit."""

    def one(run: Any) -> str:
        after = text[run.end() : run.end() + 1]
        if after and unicodedata.category(after)[0] == "M":
            return str(run.group())
        at = run.start() - 1
        while at >= 0 and unicodedata.category(text[at])[0] == "M":
            at -= 1
        left, right = _letter_or_digit(text[at] if at >= 0 else ""), _letter_or_digit(after)
        if left and left == right:
            return "-"
        return "-" if run.start() == 0 and "-" in run.group() and right == "digit" else ""

    return re.sub("[ _-]+", one, text)


def punctuation(text: str) -> str:
    """The blunter form: no space and no character of General_Category P at all."""
    return "".join(c for c in text if c != " " and unicodedata.category(c)[0] != "P")


def code(text: str, blunt: bool = False) -> str:
    """The normal form of a code: (text/1, separators) repeated until nothing changes."""
    step = punctuation if blunt else separators
    while True:
        before = text
        text = step(text_1(text))
        if text == before:
            return text


# ── Kinds: one value in, its canonical form out; None is absent ──────────────────────────────────────────────────────

Settings = Dict[str, Any]


class Context:
    """What a kind may need beside its value. `problems` gathers the codes that go on the receipt."""

    def __init__(self, record: Optional[Dict[str, Any]] = None, url: Optional[Settings] = None, star: bool = False):
        self.record = record or {}
        self.url = url or {}
        self.star = star
        self.problems: Set[str] = set()


def characters(value: Any) -> str:
    """A string as it is, a JSON number as its exact decimal text; other types are refused."""
    if isinstance(value, Number):
        return written_out(value)
    if isinstance(value, str):
        return value
    raise Refused("wrong-type", "takes a string or a number")


_ENTITY = re.compile(r"&(?:amp|lt|gt|quot|apos|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});")


def prose(value: Any, fold: bool, compatibility: bool, context: Context) -> str:
    """text/1, with the problem `entity-residue` for what looks like a character reference."""
    text = characters(value)
    if _ENTITY.search(text):
        context.problems.add("entity-residue")
    return text_1(text, fold, compatibility)


def kind_text(value: Any, settings: Settings, context: Context) -> Any:
    return prose(value, settings.get("casefold", True), settings.get("compatibility", False), context)


def kind_name(value: Any, settings: Settings, context: Context) -> Any:
    return prose(value, False, settings.get("compatibility", False), context)


def kind_id(value: Any, settings: Settings, context: Context) -> Any:
    return trimmed(compose(known(characters(value))))


def kind_code(value: Any, settings: Settings, context: Context) -> Any:
    return code(characters(value), settings.get("strip_punctuation", False))


def kind_decimal(value: Any, settings: Settings, context: Context) -> Any:
    number = exact(trimmed(value)) if isinstance(value, str) else None
    if number is None:
        raise Refused("bad-number", "not a decimal number") if isinstance(value, str) else Refused("wrong-type")
    if plain(number) is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits when written out")
    return number


def kind_integer(value: Any, settings: Settings, context: Context) -> Any:
    number = kind_decimal(value, settings, context)
    if number.exponent < 0:
        raise Refused("wrong-type", "a fraction in an integer")
    return number


def kind_boolean(value: Any, settings: Settings, context: Context) -> Any:
    if value is True or value is False:
        return value
    words = {"true": True, "false": False}
    if isinstance(value, Number) or not isinstance(value, str) or trimmed(value) not in words:
        raise Refused("wrong-type", "takes true, false and their names")
    return words[trimmed(value)]


def kind_auto(value: Any, settings: Settings, context: Context) -> Any:
    if value is True or value is False:
        return value
    if isinstance(value, Number):
        return kind_decimal(value, settings, context)
    if isinstance(value, str):
        return prose(value, not context.star, False, context)
    if isinstance(value, list):
        return [canonical(item, None, context) for item in value]
    if isinstance(value, dict):
        return _members(value, {}, context)
    raise Refused("float" if isinstance(value, float) else "wrong-type", type(value).__name__)


def kind_list(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, list):
        raise Refused("wrong-type", "takes a list")
    return [canonical(item, _of(settings), context) for item in value]


def kind_set(value: Any, settings: Settings, context: Context) -> Any:
    forms = [form for form in kind_list(value, settings, context) if form is not None]
    return [form for _, form in sorted({canonical_json(form): form for form in forms}.items())]


def kind_object(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, dict):
        raise Refused("wrong-type", "takes an object")
    return _members(value, settings.get("members", {}), context)


def _of(settings: Settings) -> Optional[Settings]:
    of = settings.get("of")
    return {"kind": of} if isinstance(of, str) else of


def _members(value: Dict[str, Any], declared: Dict[str, Settings], context: Context) -> Dict[str, Any]:
    """The present members in canonical form; of several that are refused, the first in canonical order counts."""
    forms = {name: canonical(value[name], declared.get(name), context) for name in sorted(value, key=utf16_order)}
    return {name: form for name, form in forms.items() if form is not None}


# Identifiers with a check digit, keys-1.md 6.1


def _identifier(value: Any, settings: Settings, context: Context, valid: Callable[[str], Optional[str]]) -> str:
    if isinstance(value, Number):
        number = exact(value)
        if number is not None and number.exponent < 0:
            raise Refused("wrong-type", "a fraction in an identifier")
    text = characters(value)
    bare = re.sub("[ _-]", "", text_1(text)).replace("x", "X")
    form = valid(bare)
    if form is None:
        context.problems.add("bad-check-digit")
        return code(text)
    return form


def _weighted(digits: str, weights: Iterable[int]) -> int:
    return sum((10 if d == "X" else int(d)) * w for d, w in zip(digits, weights))


def _ean(digits: str) -> bool:
    """The check digit of ISBN-13 and GTIN: weights 1 and 3 in turn from the right."""
    return _weighted(digits[::-1], (1, 3) * 7) % 10 == 0


def kind_isbn(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> Optional[str]:
        if re.fullmatch("[0-9]{9}[0-9X]", bare) and _weighted(bare, range(10, 0, -1)) % 11 == 0:
            body = "978" + bare[:9]
            return body + str(-_weighted(body, (1, 3) * 6) % 10)
        return bare if re.fullmatch("97(?:8[0-9]|9[1-9])[0-9]{9}", bare) and _ean(bare) else None

    return _identifier(value, settings, context, valid)


def kind_issn(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> Optional[str]:
        good = re.fullmatch("[0-9]{7}[0-9X]", bare) and _weighted(bare, range(8, 0, -1)) % 11 == 0
        return bare if good else None

    return _identifier(value, settings, context, valid)


def kind_gtin(value: Any, settings: Settings, context: Context) -> Any:
    def valid(bare: str) -> Optional[str]:
        good = re.fullmatch("[0-9]{8}|[0-9]{12,14}", bare) and _ean(bare)
        return bare.rjust(14, "0") if good else None

    return _identifier(value, settings, context, valid)


# Money, keys-1.md 6.3; the tables are those of spec/tables/iso4217.json

MINOR_UNITS = {
    0: "BIF BYR CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    2: (
        "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF "
        "CHE CHF CHW CNY COP COU CRC CUC CUP CVE CZK DKK DOP DZD EEK EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD "
        "GTQ GYD HKD HNL HRK HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL LTL LVL MAD "
        "MDL MGA MKD MMK MNT MOP MRO MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR "
        "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SKK SLE SLL SOS SRD SSP STD STN SVC SYP SZL THB TJS TMT "
        "TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VEF VES WST XAD XCD XCG YER ZAR ZMK ZMW ZWG ZWL"
    ),
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_SIGNS = """
    ARS AUD BBD BMD BND BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD SBD SGD SRD TTD TWD USD
    UYU XCD: $ ＄; USD: US$ U$S; AUD: A$ AU$; CAD NIO: C$; CAD: CA$; NZD: NZ$; HKD: HK$; SGD: S$; TWD: NT$; MXN: MX$;
    BRL: R$; EUR: €; EGP FKP GBP GIP LBP SDG SHP SSP SYP: £; CNY JPY: ¥ ￥; JPY: 円; CNY HKD TWD: 元; KPW KRW: ₩ 원;
    INR: ₹; INR LKR MUR NPR PKR SCR: ₨ Rs Rs.; RUB: ₽; BYN RUB: руб руб.; UAH: ₴ грн грн.; KZT: ₸; AZN: ₼; GEL: ₾;
    AMD: ֏; BGN: лв лв.; TRY: ₺ TL; ILS: ₪; VND: ₫ đ; PHP: ₱; THB: ฿; NGN: ₦; CRC: ₡; PYG: ₲; MNT: ₮; LAK: ₭; KHR:
    ៛; BDT: ৳; GHS: ₵; AFN: ؋; IRR OMR QAR SAR YER: ﷼; DKK ISK NOK SEK: kr kr.; PLN: zł; CZK: Kč; HUF: Ft; MDL RON:
    lei; CHF: Fr Fr. SFr.; ZAR: R; MYR: RM; IDR: Rp; PEN: S/
"""
CURRENCIES = {currency: units for units, codes in MINOR_UNITS.items() for currency in codes.split(" ")}
SIGNS = {
    sign: re.findall("[A-Z]{3}", codes)
    for codes, _, signs in (entry.partition(":") for entry in _SIGNS.split(";"))
    for sign in re.findall("[^ \n]+", signs)
}
_GROUPS = " \u00a0\u2009\u202f'\u2019"


def currency_of(settings: Settings, context: Context) -> str:
    named = str(settings["currency"])
    if not re.fullmatch("[A-Z]{3}", named):
        member = context.record.get(named)
        named = trimmed(member) if isinstance(member, str) and not isinstance(member, Number) else ""
        named = re.sub("[a-z]", lambda m: m.group().upper(), named)
    if named not in CURRENCIES:
        raise Refused("unknown-currency", f"{named!r} is not in the table")
    return named


def kind_money(value: Any, settings: Settings, context: Context) -> Any:
    if not isinstance(value, str):
        raise Refused("wrong-type", "takes a number or a string")
    currency = currency_of(settings, context)
    text = value if isinstance(value, Number) else _amount(trimmed(compose(known(value))), currency, settings)
    amount = exact(text)
    assert amount is not None  # the reader and _amount give no other text
    units = CURRENCIES[currency]
    minor = amount if amount.digits == "0" else amount._replace(exponent=amount.exponent + units)
    if minor.exponent < 0:
        raise Refused("excess-decimals", f"{currency} has {units} decimals")
    if plain(minor) is None:
        raise Refused("number-too-long", f"more than {MAX_DIGITS} digits")
    return [currency, minor]


def _amount(text: str, currency: str, settings: Settings) -> str:
    """The decimal text of an amount given as [minus] [mark] [minus] number [mark]."""
    stretch = re.search("[0-9](?:.*[0-9])?", text, re.DOTALL)
    if not stretch or not re.fullmatch(f"[0-9.,{_GROUPS}]+", stretch.group()):
        raise Refused("bad-money", "no amount, or something in it")
    number, before = stretch.group(), text[: stretch.start()]
    minus, mark, late = re.fullmatch("([-\u2212]?)(.*?)([-\u2212]?)", before, re.DOTALL).groups()  # type: ignore[union-attr]
    if (minus and late) or (minus and mark and mark[0] in SPACES):
        raise Refused("bad-money", "a second minus, or a space after it")
    meanings = []
    for each in (trimmed(mark), trimmed(text[stretch.end() :])):
        code_like = re.fullmatch("[A-Za-z]{3}", each) and each.upper() in CURRENCIES
        if each and not code_like and each not in SIGNS:
            raise Refused("bad-money", f"{each!r} is no currency sign")
        meanings.append([each.upper()] if code_like else SIGNS.get(each, [currency]))
    if not all(currency in each for each in meanings):
        raise Refused("currency-conflict", f"the amount does not mean {currency}")
    sign = settings.get("decimal")
    if sign is None and re.search("[.,]", number):
        raise Refused("ambiguous-money", "no decimal sign is declared")
    groups = _GROUPS + {".": ",", ",": ".", None: ""}[sign]
    grouped = f"[1-9][0-9]{{0,2}}([{groups}])[0-9]{{3}}(?:\\2[0-9]{{3}})*"
    shape = re.fullmatch(f"({grouped}|[0-9]+)(?:[{sign or ''}]([0-9]+))?".replace("[]", "(?!)"), number)
    if not shape:
        raise Refused("ambiguous-money", "grouping is wrong")
    return (minus or late).replace("\u2212", "-") + re.sub("[^0-9]", "", shape.group(1)) + "." + (shape.group(3) or "")


# Times and dates, keys-1.md 6.4

_ISO = re.compile(
    r"([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))"
    r"(?:[Tt ]([0-9]{2})"
    r"(?:(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)|(?:([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]+))?)?))?"
    r"([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?|\x20?[A-Za-z]{1,5})?)?\Z"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_MAIL = re.compile(
    r"(?:([A-Za-z]{3}),[ \t]*)?([0-9]{1,2})[ \t]+([A-Za-z]{3})[ \t]+([0-9]{4})[ \t]+"
    r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[ \t]+([+-][0-9]{4}|[A-Za-z]{1,5})\Z"
)


class Instant(NamedTuple):
    """`seconds` since 1970-01-01T00:00:00 on the clock shown, the digits of the fraction, the zone as written."""

    seconds: int
    fraction: str
    zone: Optional[str]
    bare: bool


def _day(year: int, month: int, day: int) -> Optional[int]:
    """Days since 1970-01-01, or None for a date that does not exist."""
    try:
        return dt.date(year, month, day).toordinal() - dt.date(1970, 1, 1).toordinal()
    except ValueError:
        return None


def read_time(text: str) -> Optional[Instant]:
    """A date time of either form or a bare date; None for anything else."""
    iso = _ISO.match(text)
    if iso:
        # each part stands in one of two groups: extended form, basic form
        year, m1, d1, m2, d2, hour, min1, sec1, part1, min2, sec2, part2, zone = iso.groups(default="")
        days = _day(int(year), int(m1 or m2), int(d1 or d2))
        clock = (hour, min1 or min2, sec1 or sec2)
        fraction, bare = part1 or part2, not hour
    else:
        mail = _MAIL.match(text)
        if not mail or mail.group(3).lower() not in _MONTHS:
            return None
        name, day, word, year, hour, minute, second, zone = mail.groups(default="")
        days = _day(int(year), _MONTHS.index(word.lower()) + 1, int(day))
        if days is None or (name and (name.lower() not in _DAYS or (days + 3) % 7 != _DAYS.index(name.lower()))):
            return None
        clock, fraction, bare = (hour, minute, second), "", False
        zone = {"gmt": "Z", "ut": "Z", "z": "?"}.get(zone.lower(), zone)
    hours, minutes, seconds = (int(part or "0") for part in clock)
    if days is None or hours > 23 or minutes > 59 or seconds > 59:
        return None
    return Instant(days * 86400 + hours * 3600 + minutes * 60 + seconds, fraction.rstrip("0"), zone or None, bare)


def _offset(zone: Optional[str]) -> Union[int, str, None]:
    """Seconds east of UTC; "unknown" for -00:00 and zones by letters; None where the offset is impossible."""
    if zone in ("Z", "z"):
        return 0
    digits = re.fullmatch("([+-])([0-9]{2}):?([0-9]{2})?", zone or "")
    if not digits:
        return "unknown"
    sign, hours, minutes = digits.groups(default="00")
    if int(hours) > 23 or int(minutes) > 59:
        return None
    seconds = int(hours) * 3600 + int(minutes) * 60
    return "unknown" if sign == "-" and seconds == 0 else seconds if sign == "+" else -seconds


def utc_text(seconds: int, fraction: str) -> Optional[str]:
    """`YYYY-MM-DDThh:mm:ss[.f]Z`, or None outside the years 0001 to 9999."""
    days, clock = divmod(seconds, 86400)
    ordinal = days + dt.date(1970, 1, 1).toordinal()
    if not 1 <= ordinal <= dt.date.max.toordinal():
        return None
    date = dt.date.fromordinal(ordinal)
    out = f"{date.year:04d}-{date.month:02d}-{date.day:02d}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}"
    return out + ("." + fraction if fraction else "") + "Z"


def kind_timestamp(value: Any, settings: Settings, context: Context) -> Any:
    epoch = settings.get("epoch")
    text = value if isinstance(value, str) else ""
    if not text or (isinstance(value, Number) and not epoch):
        raise Refused("wrong-type", "takes a string, and an integer where epoch is declared")
    text = trimmed(text)
    if isinstance(value, Number) or (epoch and re.fullmatch("[+-]?[0-9]+", text)):
        count = kind_integer(value, {}, context)
        ticks = int(plain(count) or "0") if len(plain(count) or "") < 30 else 10**30
        seconds, rest = divmod(ticks, 1000 if epoch == "ms" else 1)
        out = utc_text(seconds, f"{rest:03d}".rstrip("0"))
    else:
        instant = read_time(text)
        if instant is None or instant.bare:
            raise Refused("bad-timestamp", "not a date and time")
        offset = _offset(instant.zone or settings.get("assume_offset"))
        if offset == "unknown":
            raise Refused("no-zone", "no offset from UTC is given")
        out = utc_text(instant.seconds - offset, instant.fraction) if isinstance(offset, int) else None
    if out is None:
        raise Refused("bad-timestamp", "out of range")
    return out


def kind_date(value: Any, settings: Settings, context: Context) -> Any:
    if isinstance(value, Number) or not isinstance(value, str):
        raise Refused("wrong-type", "takes a string")
    date = re.fullmatch("([0-9]{4})(-?)([0-9]{2})\\2([0-9]{2})", trimmed(value))
    if not date or _day(int(date.group(1)), int(date.group(3)), int(date.group(4))) is None:
        raise Refused("bad-date", "not YYYY-MM-DD or YYYYMMDD, or no such day")
    return f"{date.group(1)}-{date.group(3)}-{date.group(4)}"


def read_fetched_at(text: str, assume_offset: str = "Z") -> Optional[int]:
    """Microseconds since 1970 in UTC, read leniently; None for what cannot be read (keys-1.md 10)."""
    instant = read_time(trimmed(text))
    if instant is None:
        return None
    offset = _offset(instant.zone or assume_offset)
    if offset is None or (offset == "unknown" and (instant.zone or "")[:1] not in ("+", "-")):
        return None
    seconds = instant.seconds - (offset if isinstance(offset, int) else 0)
    if utc_text(seconds, "") is None:
        return None
    return seconds * 1000000 + int(instant.fraction[:6].ljust(6, "0"))


def fetched_at_text(micros: int) -> str:
    seconds, rest = divmod(micros, 1000000)
    return utc_text(seconds, f"{rest:06d}".rstrip("0")) or ""


# URLs, keys-1.md 8


def canonical_of(text: str, url: Settings) -> str:
    """The canonical URL at the ruleset's strength, with its host rules. Raises UrlRefused."""
    return canonical_url(text, url.get("strength", "page"), url.get("host", []))


def kind_url(value: Any, settings: Settings, context: Context) -> Any:
    if isinstance(value, Number) or not isinstance(value, str):
        raise Refused("wrong-type", "takes a string")
    while True:
        try:
            return canonical_of(value, context.url)
        except UrlRefused as refusal:
            context.problems.add(refusal.code)
        form = text_1(redact(value), False)
        if form == value:
            return form
        value = form


Kind = Callable[[Any, Settings, Context], Any]
KINDS: Dict[str, Kind] = {
    "text": kind_text,
    "name": kind_name,
    "id": kind_id,
    "code": kind_code,
    "isbn": kind_isbn,
    "issn": kind_issn,
    "gtin": kind_gtin,
    "integer": kind_integer,
    "decimal": kind_decimal,
    "money": kind_money,
    "timestamp": kind_timestamp,
    "date": kind_date,
    "boolean": kind_boolean,
    "url": kind_url,
    "list": kind_list,
    "set": kind_set,
    "object": kind_object,
    "auto": kind_auto,
}


def canonical(value: Any, settings: Optional[Settings], context: Context) -> Any:
    """The canonical form of a value under a field's settings, or None where it is absent. Raises Refused.

    None as settings: `auto`; settings without a kind: `text`. Null and blank strings are absent under every kind.
    """
    if value is None or (isinstance(value, str) and not trimmed(value)):
        return None
    form = KINDS["auto" if settings is None else settings.get("kind", "text")](value, settings or {}, context)
    if form == "" or form == {} or (isinstance(form, list) and all(item is None for item in form)):
        return None
    return form


# ── Character references, keys-1.md 6.6 ──────────────────────────────────────────────────────────────────────────────


# What numeric references to 0x80-0x9F mean: the characters of windows-1252, where it has one.
_C1 = {code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}


def decoded(text: str, attribute: bool) -> str:
    """Every character reference of the HTML Standard once, by the rule for text or for an attribute's value."""

    def one(match: Any) -> str:
        decimal, hexadecimal, name = match.group("decimal"), match.group("hex"), match.group("name")
        if name is None:
            code = int(decimal) if decimal else int(hexadecimal, 16)
            if _C1.get(code):
                return _C1[code]
            return "\ufffd" if code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000 else chr(code)
        known = next((name[:end] for end in range(len(name), 0, -1) if name[:end] in html.entities.html5), None)
        rest = match.string[match.start("name") + len(known or "") :]
        if known is None or (attribute and known[-1] != ";" and re.match("[=A-Za-z0-9]", rest)):
            return str(match.group())
        return html.entities.html5[known] + name[len(known) :]

    pattern = "&(?:#(?P<decimal>[0-9]+);?|#[xX](?P<hex>[0-9A-Fa-f]+);?|(?P<name>[A-Za-z0-9]{1,32};?))"
    return re.sub(pattern, one, text)


def decoded_value(value: Any, attribute: bool) -> Any:
    """A value with every string in it decoded; member names stay."""
    if isinstance(value, str) and not isinstance(value, Number):
        return decoded(value, attribute)
    if isinstance(value, list):
        return [decoded_value(item, attribute) for item in value]
    if isinstance(value, dict):
        return {name: decoded_value(member, attribute) for name, member in value.items()}
    return value


# ── Rulesets, keys-1.md 7 ────────────────────────────────────────────────────────────────────────────────────────────


_DEFAULTS = {"kind": "text", "casefold": True, "compatibility": False, "strip_punctuation": False}


def _tables(settings: Settings) -> Settings:
    """A field's settings without those at their default, and `of` as a table: what a fingerprint covers."""
    out = {key: value for key, value in settings.items() if key not in _DEFAULTS or value != _DEFAULTS[key]}
    of = _of(settings)
    if of is not None:
        out["of"] = _tables(of)
    if "members" in out:
        out["members"] = {name: _tables(table) for name, table in out["members"].items()}
    return {key: value for key, value in out.items() if (key, value) not in (("of", {"kind": "auto"}), ("members", {}))}


class Ruleset:
    """A ruleset as `tomllib` (or a JSON reader) gives it. Mistakes in it are the kernel's business, not this file's."""

    def __init__(self, table: Dict[str, Any]) -> None:
        self.table = table
        self.label = f"{table['name']}/{table['version']}"
        self.identity: Union[List[str], str, None] = table.get("identity")
        self.require: List[str] = table.get("require", [])
        self.volatile: List[str] = table.get("volatile", [])
        self.payload: Optional[str] = table.get("payload")
        self.base64 = table.get("payload_encoding") == "base64"
        self.fields: Dict[str, Settings] = table.get("fields", {})
        self.url: Settings = table.get("url", {})
        self.actions: Dict[str, str] = table.get("actions", {})
        self.record: Dict[str, str] = table.get("record", {})
        self.decodes = [name for name, at in table.get("boundary", {}).items() if at.get("entities") == "decode"]
        self.facts = [self.record[name] for name in ("url", "fetched_at", "source") if name in self.record]

    def fingerprint(self) -> str:
        """`sha256:…` over what can change a key."""
        identity = self.identity if self.identity == "*" else sorted(self.identity or [], key=utf16_order)
        covered: Dict[str, Any] = {
            "identity": identity,
            "require": sorted(self.require, key=utf16_order),
            "volatile": sorted(self.volatile, key=utf16_order),
            "payload": self.payload,
            "payload_encoding": "base64" if self.base64 else None,
            "fields": {name: _tables(table) for name, table in self.fields.items()},
            "url": {key: value for key, value in self.url.items() if (key, value) != ("strength", "page")},
            "boundary": {name: {"entities": "decode"} for name in self.decodes},
        }
        if identity == "*" or (not identity and not self.payload):
            covered["record"] = {key: value for key, value in self.record.items() if key != "assume_offset"}
        kept = {key: value for key, value in covered.items() if value not in ({}, [], None)}
        return sha256(canonical_json({"keys": self.table["keys"], **kept}))


def sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


# ── Keys of a record, keys-1.md 1, 7, 8 and 9 ────────────────────────────────────────────────────────────────────────


class Keys(NamedTuple):
    """The labelled keys of a record (None where there is none), its facts, and the problem codes, sorted."""

    content_key: Optional[str]
    url_key: Optional[str]
    payload_digest: Optional[str]
    problems: List[str]
    url: Optional[str]
    canonical_url: Optional[str]
    source: Optional[str]
    fetched_at: Optional[int]


def identity_of(rules: Ruleset, record: Dict[str, Any], context: Context) -> Dict[str, Any]:
    """The present identity fields in canonical form. Raises Refused with the field's name."""
    names = rules.identity
    if names == "*":
        names = [name for name in record if name not in (*rules.volatile, *rules.facts, "_seen")]
    forms: Dict[str, Any] = {}
    for name in sorted(names or [], key=utf16_order):
        value = record.get(name)
        if name in rules.decodes:
            value = decoded_value(value, attribute=rules.fields.get(name, {}).get("kind") == "url")
        try:
            form = canonical(value, rules.fields.get(name), context)
        except Refused as refusal:
            raise Refused(refusal.code, refusal.detail, name) from None
        if form is not None:
            forms[name] = form
    return forms


def payload_of(rules: Ruleset, record: Dict[str, Any]) -> Optional[bytes]:
    """The payload's bytes, or None where the ruleset names a member and the record has none."""
    if rules.payload is None:
        left_out = (*rules.volatile, *rules.facts, "_seen")
        return canonical_json({name: record[name] for name in record if name not in left_out}, long_numbers=True)
    text = record.get(rules.payload)
    if text is None or (text == "" and isinstance(text, str)):
        return None
    if isinstance(text, Number) or not isinstance(text, str):
        raise Refused("wrong-type", "a payload is a string", rules.payload)
    if not rules.base64:
        return text.encode("utf-8")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except ValueError:
        data = b""
    if base64.b64encode(data).decode("ascii") != text:  # padding, alphabet and unused bits are as RFC 4648 wants them
        raise Refused("bad-base64", "not base64 of RFC 4648 section 4", rules.payload)
    return data


def host_of(canonical_exact: str) -> str:
    authority = re.split("[/?#]", canonical_exact.partition("://")[2], maxsplit=1)[0]
    return re.sub(":[0-9]*$", "", authority)


def keys_of(
    rules: Ruleset,
    record: Dict[str, Any],
    url: Optional[str] = None,
    source: Optional[str] = None,
    fetched_at: Optional[str] = None,
    input_name: Optional[str] = None,
) -> Keys:
    """All keys and facts of a record; `url`, `source` and `fetched_at` stand in where it has none of its own."""
    context = Context(record, rules.url, rules.identity == "*")
    forms = identity_of(rules, record, context)
    payload = payload_of(rules, record)
    digest = None if payload is None else sha256(payload)
    content: Optional[str] = None
    if not rules.identity:
        content = None if rules.payload is None and payload == b"{}" else digest
    elif forms and all(name in forms for name in rules.require):
        content = sha256(canonical_json(forms))
    if content is None and rules.actions.get("unkeyed") == "refuse":
        raise Refused("no-identity")

    address = _fact(rules, record, "url", url)
    shown: Optional[str] = None
    place: Optional[str] = None
    host = ""
    if isinstance(address, str) and not isinstance(address, Number):
        shown = redact(address)
        try:
            place = canonical_of(address, rules.url)
            host = host_of(canonical_url(address, "exact"))
        except UrlRefused as refusal:
            context.problems.add(refusal.code)
    elif address is not None:
        context.problems.add("url-invalid")

    when = _fact(rules, record, "fetched_at", fetched_at)
    micros: Optional[int] = None
    if when is not None:
        readable = isinstance(when, str) and not isinstance(when, Number)
        micros = read_fetched_at(when, rules.record.get("assume_offset", "Z")) if readable else None
        if micros is None:
            context.problems.add("bad-fetched-at")

    return Keys(
        content and f"{rules.label}:{content}",
        place and f"{rules.label}:url:{sha256(place.encode('utf-8'))}",
        digest,
        sorted(context.problems),
        shown,
        place,
        _source(rules, record, source) or host or (input_name or "").rpartition("/")[2] or None,
        micros,
    )


def _fact(rules: Ruleset, record: Dict[str, Any], name: str, given: Optional[str]) -> Any:
    """The record's own value of a fact, else the one given; blank is none."""
    member = rules.record.get(name)
    for own, value in ((True, record.get(member) if member is not None else None), (False, given)):
        if value is not None and not (isinstance(value, str) and not trimmed(value)):
            return decoded_value(value, attribute=True) if own and member in rules.decodes else value
    return None


def _source(rules: Ruleset, record: Dict[str, Any], given: Optional[str]) -> Optional[str]:
    value = record.get(rules.record["source"]) if "source" in rules.record else None
    if isinstance(value, Number):
        try:
            value = written_out(value)
        except Refused:  # a fact that cannot be written out is none: facts refuse no record
            value = None
    return (trimmed(value) if isinstance(value, str) else "") or trimmed(given or "") or None


# ── Verdicts and receipts, verdicts-1.md and receipt-1.md ────────────────────────────────────────────────────────────


def ordered_json(members: Dict[str, Any]) -> bytes:
    """Exact canonical JSON, but with the members of the outermost and of nested objects in the order given."""

    def written(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ",".join(json_string(name) + ":" + written(value[name]) for name in value) + "}"
        return _written(value, long_numbers=False)

    return written(members).encode("utf-8")


class Sighting(NamedTuple):
    """One record at one place at one time, as `refers_to` and `previous` show it."""

    run: int
    seq: int
    url: Optional[str]
    fetched_at: Optional[int]
    payload_digest: Optional[str]

    def shown(self) -> Dict[str, Any]:
        when = None if self.fetched_at is None else fetched_at_text(self.fetched_at)
        return {"run": self.run, "seq": self.seq, "url": self.url, "fetched_at": when}


class Place(NamedTuple):
    latest: Sighting
    content_key: str


class Decision(NamedTuple):
    verdict: str
    seen_before: bool
    refers_to: Optional[Sighting]
    previous: Optional[Sighting]
    first_seen: Optional[int]


def verdict(content_seen: bool, url_given: bool, url_seen: bool, same_content: bool) -> str:
    """The verdict table for a record that has a content key. `same_content`: it is the URL's latest."""
    if not url_given or not url_seen:
        return "new" if not content_seen else "syndicated" if url_given else "duplicate"
    return "duplicate" if same_content else "changed"


class Output(NamedTuple):
    """What one line adds to the three files; None where it adds nothing. Without the LF that ends each line."""

    receipt: bytes
    kept: Optional[bytes]
    refused: Optional[bytes]


class Judge:
    """Judges lines in order against all it judged before; the simplest store there is.

    `source` and `fetched_at` stand in for records without their own; `replace_seen` accepts records with `_seen`.
    """

    def __init__(
        self,
        rules: Ruleset,
        source: Optional[str] = None,
        fetched_at: Optional[str] = None,
        replace_seen: bool = False,
        limit: int = MAX_LINE,
    ) -> None:
        self.rules, self.source, self.fetched_at = rules, source, fetched_at
        self.replace_seen, self.limit = replace_seen, limit
        self.first: Dict[str, Sighting] = {}
        self.first_seen: Dict[str, Optional[int]] = {}
        self.places: Dict[str, Place] = {}
        self.run, self.seq = 1, 0

    def next_run(self) -> None:
        self.run, self.seq = self.run + 1, 0

    def judge(self, name: str, data: bytes) -> Iterator[Output]:
        """Judges one whole input called `name`."""
        for line in lines(data):
            self.seq += 1
            try:
                yield self._record(name, line)
            except Refused as refusal:
                yield self._refused(name, line, refusal)

    def decide(self, keys: Keys) -> Decision:
        """The verdict on a record, and what the next records will find; an unkeyed one leaves nothing behind."""
        key = keys.content_key
        if key is None:
            return Decision("unkeyed", False, None, None, None)
        here = Sighting(self.run, self.seq, keys.url, keys.fetched_at, keys.payload_digest)
        place = self.places.get(keys.url_key or "")
        seen_before = key in self.first
        same = place is not None and place.content_key == key
        word = verdict(seen_before, keys.url_key is not None, place is not None, same)
        refers_to = self.first.get(key)
        times = [t for t in (self.first_seen.get(key), keys.fetched_at) if t is not None]
        self.first.setdefault(key, here)
        self.first_seen[key] = min(times) if times else None
        if keys.url_key is not None:
            self.places[keys.url_key] = Place(here, key)
        previous = place.latest if place is not None and word == "changed" else None
        return Decision(word, seen_before, refers_to, previous, self.first_seen[key])

    def action(self, decision: Decision) -> str:
        default = "skip" if decision.verdict == "duplicate" else "keep"
        wanted = self.rules.actions.get(decision.verdict, default) if decision.verdict != "duplicate" else default
        return "skip" if wanted == "skip" and decision.seen_before else "keep"

    def _record(self, name: str, line: Line) -> Output:
        parsed = read_parts(line.data, self.limit)
        record = parsed.record
        if "_seen" in record and not self.replace_seen:
            raise Refused("seen-member")
        record = {member: value for member, value in record.items() if member != "_seen"}
        keys = keys_of(self.rules, record, None, self.source, self.fetched_at, name)
        decision = self.decide(keys)
        action = self.action(decision)
        refers_to, previous = decision.refers_to, decision.previous
        matched_on = None
        if refers_to is not None:
            equal = keys.payload_digest is not None and refers_to.payload_digest == keys.payload_digest
            matched_on = "payload" if equal else "content"
        receipt = {
            "run": self.run,
            "seq": self.seq,
            "input": name,
            "line": line.number,
            "source": keys.source,
            "url": keys.url,
            "url_key": keys.url_key,
            "fetched_at": None if keys.fetched_at is None else fetched_at_text(keys.fetched_at),
            "payload_digest": keys.payload_digest,
            "content_key": keys.content_key,
            "verdict": decision.verdict,
            "action": action,
            "seen_before": decision.seen_before,
            "matched_on": matched_on,
            "refers_to": refers_to and refers_to.shown(),
            "previous": previous and previous.shown(),
            "problems": keys.problems,
        }
        seen = {
            "sha256": keys.payload_digest,
            "content_key": keys.content_key,
            "verdict": decision.verdict,
            "seen_before": decision.seen_before,
            "first_seen": None if decision.first_seen is None else fetched_at_text(decision.first_seen),
            "refers_to": refers_to and refers_to.shown(),
        }
        kept = with_seen(parsed, ordered_json(seen)) if action == "keep" else None
        return Output(ordered_json(receipt), kept, None)

    def _refused(self, name: str, line: Line, refusal: Refused) -> Output:
        digest = sha256(line.data)
        receipt = {
            "run": self.run,
            "seq": self.seq,
            "input": name,
            "line": line.number,
            "verdict": "refused",
            "action": "refuse",
            "code": refusal.code,
            "sha256": digest,
        }
        detail = refusal.detail if refusal.field is None else f"{refusal.field}: {refusal.detail}"
        row: Dict[str, Any] = {
            "input": name,
            "line": line.number,
            "seq": self.seq,
            "offset": line.offset,
            "length": len(line.data),
            "code": refusal.code,
            "detail": detail,
            "sha256": digest,
        }
        if refusal.code == "line-too-long":
            row["bin_offset"] = 0  # where a writer put the bytes in refused.bin; nothing is written here
        else:
            try:
                row["raw"] = line.data.decode("utf-8")
            except UnicodeDecodeError:
                row["raw_base64"] = base64.b64encode(line.data).decode("ascii")
        return Output(ordered_json(receipt), None, ordered_json(row))


def with_seen(parsed: Parsed, seen: bytes) -> bytes:
    """The record's own text without outer white space, its `_seen` (if any) cut out, and the new one as last member."""
    text, spans = parsed.text, parsed.spans
    for at, (name, start, end) in enumerate(spans):
        if name == "_seen":
            if at + 1 < len(spans):
                text = text[:start] + text[spans[at + 1][1] :]
            elif at > 0:
                text = text[: spans[at - 1][2]] + text[end:]
            else:
                text = text[:start] + text[end:]
            spans = spans[:at] + spans[at + 1 :]
            break
    text = text.strip(" \t\r\n")
    return (text[:-1] + ("," if spans else "") + '"_seen":').encode("utf-8") + seen + b"}"
