// Pictures of what a view shows, to be saved: SVG, and PNG drawn from it.

import { loadPart } from "../../base/part";
import { escaped } from "../../base/tableText";
import { drawnChart } from "../echart";
import type { Drawing } from "./svgOfDrawing";
import { ELEMENTS_MOST, round, svgOfElement } from "./svgOfElement";

/** The lines above a picture that say what it is of. */
export interface Caption {
  readonly title: string;
  readonly about: string;
}

export interface Picture {
  readonly svg: string;
  readonly width: number;
  readonly height: number;
}

const MARGIN = 16;
const CAPTION_HEIGHT = 44;

/** What an element shows as an SVG picture under its caption; null if it has too many parts. */
export async function pictureOf(root: HTMLElement, caption: Caption): Promise<Picture | null> {
  const all = root.querySelectorAll("*");
  if (all.length > ELEMENTS_MOST) return null;
  const drawings = new Map<Element, Drawing>();
  for (const element of all) {
    const chart = drawnChart(element);
    if (!chart) continue;
    const { chartSvg } = await loadPart(() => import("../echart-svg"));
    const text = chartSvg(chart.option, chart.width, chart.height);
    drawings.set(element, { at: (x, y) => text.replace("<svg ", `<svg x="${x}" y="${y}" `) });
  }
  const style = getComputedStyle(document.body);
  const width = Math.ceil(root.clientWidth) + 2 * MARGIN;
  const height = Math.ceil(root.clientHeight) + 2 * MARGIN + CAPTION_HEIGHT;
  const line = (text: string, y: number, size: number, weight: number) =>
    `<text x="${MARGIN}" y="${y}" font-family="${escaped(style.fontFamily)}" font-size="${size}" font-weight="${weight}" fill="${escaped(style.color)}">${escaped(text)}</text>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><rect width="100%" height="100%" fill="${escaped(style.backgroundColor)}"/>${line(caption.title, MARGIN + 14, 15, 600)}${line(caption.about, MARGIN + 34, 12, 400)}<g transform="translate(${MARGIN} ${round(MARGIN + CAPTION_HEIGHT)})">${svgOfElement(root, drawings)}</g></svg>`;
  return { svg, width, height };
}

/** Pixels of a picture for each of the page. */
const SCALE = 2;

/** A picture as a PNG file, twice as fine as the page. */
export async function pngOf({ svg, width, height }: Picture): Promise<Blob> {
  const url = URL.createObjectURL(svgFile(svg));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = width * SCALE;
    canvas.height = height * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, fail) => {
      canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(url);
  }
}

export const svgFile = (svg: string): Blob => new Blob([svg], { type: "image/svg+xml" });
