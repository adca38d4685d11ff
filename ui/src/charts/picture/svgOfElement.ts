// What an element of the page shows, as an SVG text: boxes, texts, charts and their drawings, where
// the browser has put them. It is a drawing of shapes and letters, without HTML inside, so that
// other programs can open it.

import { escaped } from "../../base/tableText";
import { type Drawing, svgOfDrawing } from "./svgOfDrawing";
import { textLines } from "./textLines";

/**
 * Elements that a picture has no place for: what is pressed or typed into, and what is not seen.
 * Boxes that are ticked have the colours of series.
 */
const LEFT_OUT = "button[aria-haspopup], input:not([type=checkbox]), script, style";

/** More elements than these are no picture that anybody reads. */
export const ELEMENTS_MOST = 20_000;

/** The drawings of charts that are no SVG on the page, by their elements. */
export type Drawings = ReadonlyMap<Element, Drawing>;

interface Corner {
  readonly left: number;
  readonly top: number;
}

/** The content of an SVG for all that is within an element; its left upper corner is at 0, 0. */
export function svgOfElement(root: Element, drawings: Drawings): string {
  const { left, top } = root.getBoundingClientRect();
  return new Painter({ left, top }, drawings).draw(root);
}

class Painter {
  private clips = 0;
  private readonly from: Corner;
  private readonly drawings: Drawings;

  constructor(from: Corner, drawings: Drawings) {
    this.from = from;
    this.drawings = drawings;
  }

  draw(element: Element): string {
    if (element.matches(LEFT_OUT)) return "";
    const style = getComputedStyle(element);
    if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") {
      return "";
    }
    const inside = this.drawing(element) ?? this.box(element, style) + this.content(element, style);
    if (inside === "" || style.opacity === "1") return inside;
    return `<g opacity="${style.opacity}">${inside}</g>`;
  }

  /** A chart as a whole; null for any other element. */
  private drawing(element: Element): string | null {
    const drawing = this.drawings.get(element);
    const { x, y, width, height } = this.rect(element.getBoundingClientRect());
    if (drawing) return drawing.at(x, y);
    if (element instanceof SVGSVGElement) return svgOfDrawing(element, { x, y, width, height });
    if (!(element instanceof HTMLCanvasElement)) return null;
    return `<image x="${x}" y="${y}" width="${width}" height="${height}" href="${element.toDataURL()}"/>`;
  }

  private content(element: Element, style: CSSStyleDeclaration): string {
    const parts = [...element.childNodes].map((node) => {
      if (node instanceof Element) return this.draw(node);
      return node instanceof Text ? this.text(node, style) : "";
    });
    const inside = parts.join("");
    const overflows =
      element.scrollWidth > element.clientWidth + 1 ||
      element.scrollHeight > element.clientHeight + 1;
    if (inside === "" || style.overflow === "visible" || !overflows) return inside;
    const { x, y, width, height } = this.rect(element.getBoundingClientRect());
    const name = `clip-${this.clips++}`;
    return `<clipPath id="${name}"><rect x="${x}" y="${y}" width="${width}" height="${height}"/></clipPath><g clip-path="url(#${name})">${inside}</g>`;
  }

  private text(node: Text, style: CSSStyleDeclaration): string {
    const size = Number.parseFloat(style.fontSize);
    return textLines(node)
      .map(({ text, rect }) => {
        const { x, y, height } = this.rect(rect);
        // Letters stand a little below the middle of their line.
        const baseline = round(y + height / 2 + size * 0.35);
        return `<text x="${x}" y="${baseline}" fill="${escaped(style.color)}" font-family="${escaped(style.fontFamily)}" font-size="${size}" font-weight="${style.fontWeight}" xml:space="preserve">${escaped(text)}</text>`;
      })
      .join("");
  }

  /** The background and the borders. */
  private box(element: Element, style: CSSStyleDeclaration): string {
    const { x, y, width, height } = this.rect(element.getBoundingClientRect());
    if (width === 0 && height === 0) return "";
    const parts: string[] = [];
    if (isPainted(style.backgroundColor)) {
      const radius = Number.parseFloat(style.borderTopLeftRadius) || 0;
      parts.push(
        `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${escaped(style.backgroundColor)}"/>`,
      );
    }
    const right = round(x + width);
    const bottom = round(y + height);
    const lines = [
      ["Top", x, y, right, y],
      ["Right", right, y, right, bottom],
      ["Bottom", x, bottom, right, bottom],
      ["Left", x, y, x, bottom],
    ] as const;
    for (const [side, x1, y1, x2, y2] of lines) {
      const thick = Number.parseFloat(style[`border${side}Width`]);
      const kind = style[`border${side}Style`];
      const colour = style[`border${side}Color`];
      if (!(thick > 0) || kind === "none" || kind === "hidden" || !isPainted(colour)) continue;
      const dashes = kind === "dotted" || kind === "dashed" ? ` stroke-dasharray="2 2"` : "";
      parts.push(
        `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${escaped(colour)}" stroke-width="${thick}"${dashes}/>`,
      );
    }
    return parts.join("");
  }

  private rect({ left, top, width, height }: DOMRect) {
    return {
      x: round(left - this.from.left),
      y: round(top - this.from.top),
      width: round(width),
      height: round(height),
    };
  }
}

/** To a hundredth of a pixel. */
export const round = (pixels: number): number => Math.round(pixels * 100) / 100;

const isPainted = (colour: string) =>
  colour !== "transparent" && !/^rgba\(.*, 0\)$/.test(colour) && !/\/ 0\)$/.test(colour);
