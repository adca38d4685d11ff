// A drawing of the page as an SVG text that needs no style sheet.

import { escaped } from "../../base/tableText";

/** A chart as SVG, wherever it is put. */
export interface Drawing {
  at(x: number, y: number): string;
}

/** What style sheets say of shapes; an attribute of the same name says it to any reader. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
  "paint-order",
] as const;

/** Attributes that are for the page alone. */
const LEFT_OUT = /^(class|style|on|tabindex|role|aria-|data-|xmlns)/;

/** An `svg` element of the page as text, at a place of another one. */
export function svgOfDrawing(
  drawing: SVGSVGElement,
  { x, y, width, height }: { x: number; y: number; width: number; height: number },
): string {
  const viewBox = drawing.getAttribute("viewBox") ?? `0 0 ${width} ${height}`;
  const aspect = drawing.getAttribute("preserveAspectRatio");
  const kept = aspect === null ? "" : ` preserveAspectRatio="${escaped(aspect)}"`;
  const inside = [...drawing.childNodes].map(partText).join("");
  return `<svg x="${x}" y="${y}" width="${width}" height="${height}" viewBox="${escaped(viewBox)}"${kept}${shapeStyle(drawing)}>${inside}</svg>`;
}

function partText(node: Node): string {
  if (node instanceof Text) return escaped(node.data);
  if (!(node instanceof SVGElement)) return "";
  const style = getComputedStyle(node);
  if (style.display === "none" || style.visibility === "hidden") return "";
  const names = new Set<string>(PROPERTIES);
  const attributes = [...node.attributes]
    .filter(({ name }) => !LEFT_OUT.test(name) && !names.has(name))
    .map(({ name, value }) => ` ${name}="${escaped(value)}"`)
    .join("");
  const inside = [...node.childNodes].map(partText).join("");
  return `<${node.tagName}${attributes}${shapeStyle(node)}>${inside}</${node.tagName}>`;
}

function shapeStyle(element: Element): string {
  const style = getComputedStyle(element);
  return PROPERTIES.map((name) => {
    const value = style.getPropertyValue(name);
    return value === "" || value === "auto" ? "" : ` ${name}="${escaped(value)}"`;
  }).join("");
}
