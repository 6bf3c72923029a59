"""Prepare matplotlib's SVG for embedding: unique ids, tooltips, accessible text, and the page's colours."""

import re
import secrets
import xml.etree.ElementTree as ET
from html import escape

SVG = "http://www.w3.org/2000/svg"
HREF = "{http://www.w3.org/1999/xlink}href"
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
INK, GREY = "#222222", "#707070"
MIXED = 55  # percentage of its own colour in coloured text; the rest is the page's text colour, for contrast
NARROW, WIDE = 640, 900  # widths in pixels: below the first the box scrolls; the second is the maximum

ET.register_namespace("", SVG)


def inline(
    text: str, titles: dict[str, list[str]], name: str, description: str, run: str, prefix: str | None = None
) -> str:
    """Rewrite an SVG file of matplotlib.  ``titles``: tooltips by group id, in the order of the group's shapes."""
    root = ET.fromstring(text)
    prefix = prefix or f"bl-{re.sub(r'[^A-Za-z0-9]+', '-', run).strip('-')[:40]}-{secrets.token_hex(4)}"
    _drop_what_is_not_seen(root)
    for group in root.iter(f"{{{SVG}}}g"):
        if group.get("id") in titles:
            _add_titles(group, titles[group.get("id", "")])
        elif str(group.get("id")).startswith(("hatch", "releases", "lines", "text")):
            group.set("pointer-events", "none")  # so that hovering reaches the bar underneath
    for element in root.iter():
        _restyle(element)
    _prefix_ids(root, prefix)
    width, height = root.get("viewBox", "0 0 0 0").split()[2:]
    style = f"display:block;width:100%;max-width:{WIDE}px;height:auto;stroke-linejoin:round;font-family:{FONTS}"
    root.attrib |= {"width": width, "height": height, "style": style, "class": "bl-timeline-figure"}
    root.attrib |= {"role": "img", "aria-labelledby": f"{prefix}-title {prefix}-desc"}
    for tag, words in (("desc", description), ("title", name)):
        element = ET.Element(f"{{{SVG}}}{tag}", id=f"{prefix}-{tag}")
        element.text = _legal(words)
        root.insert(0, element)
    return re.sub(r">\s+<", "><", ET.tostring(root, encoding="unicode"))


def boxed(svg: str, name: str) -> str:
    """Wrap the SVG in a box that scrolls horizontally if the page is narrower than ``NARROW``."""
    svg = svg.replace("display:block;width:100%;", f"display:block;width:100%;min-width:{NARROW}px;", 1)
    return (
        f'<div class="bl-timeline" tabindex="0" role="region" aria-label="{escape(name)}" '
        f'style="overflow-x:auto;max-width:100%;margin:0.5em 0">{svg}</div>'
    )


def _legal(words: str) -> str:
    """Replace control characters, which XML does not allow."""
    return re.sub(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]", "�", words)


def _drop_what_is_not_seen(root: ET.Element) -> None:
    for parent in list(root.iter()):
        for child in list(parent):
            tag = child.tag.rpartition("}")[2]
            backdrop = str(child.get("id")).startswith("patch_") and all(
                "fill: none" in p.get("style", "") and "stroke:" not in p.get("style", "") for p in child
            )
            if tag == "metadata" or backdrop or tag == "style":
                parent.remove(child)


def _add_titles(group: ET.Element, titles: list[str]) -> None:
    """Add tooltips to the shapes of a group: its paths, or its ``use`` elements if all shapes look alike."""
    shapes = [child for child in group if child.tag != f"{{{SVG}}}defs"]
    if len(shapes) == 1 and shapes[0].tag == f"{{{SVG}}}g":
        shapes = list(shapes[0])
    for shape, words in zip(shapes, titles, strict=True):
        ET.SubElement(shape, f"{{{SVG}}}title").text = _legal(words)


def _restyle(element: ET.Element) -> None:
    """Give text and lines the page's text colour; coloured text is mixed with it."""
    tag = element.tag.rpartition("}")[2]
    if tag == "path" and element.get("d"):
        element.set(
            "d",
            " ".join(
                re.sub(
                    r"\d+\.\d+", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), element.get("d", "")
                ).split()
            ),
        )
    style = element.get("style")
    if not style:
        return
    if tag == "text":
        if element.get("transform", "").startswith("rotate(-0 "):  # a no-op; other transforms position the text
            del element.attrib["transform"]
        style = re.sub(r"font-family: [^;]*; ?", "", style)
    style = re.sub(rf"(fill|stroke): {INK}", r"\1: currentColor", style)
    style = re.sub(rf"(fill|stroke): {GREY}", r"\1: currentColor; \1-opacity: 0.68", style)
    if tag == "text":
        style = re.sub(
            r"fill: (#(?!ffffff)[0-9a-f]{6})", rf"fill: \1; fill: color-mix(in srgb, \1 {MIXED}%, currentColor)", style
        )
    style = re.sub(r"stroke: (#c4122f)", rf"stroke: \1; stroke: color-mix(in srgb, \1 {MIXED}%, currentColor)", style)
    element.set("style", style.replace(": ", ":").replace("; ", ";"))


def _prefix_ids(root: ET.Element, prefix: str) -> None:
    """Prefix every id that is referenced and remove the others."""
    used = set()
    for element in root.iter():
        target = element.attrib.pop(HREF, None)
        if target:
            element.set("href", f"#{prefix}-{target[1:]}")
            used.add(target[1:])
        for key, value in element.attrib.items():
            if "url(#" in value:
                used.update(re.findall(r"url\(#([^)]*)\)", value))
                element.set(key, re.sub(r"url\(#([^)]*)\)", rf"url(#{prefix}-\1)", value))
    for element in root.iter():
        own = element.attrib.pop("id", None)
        if own in used:
            element.set("id", f"{prefix}-{own}")
        elif own in ("bars", "prints", "releases"):
            element.set("class", f"bl-{own}")
