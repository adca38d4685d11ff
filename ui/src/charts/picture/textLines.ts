// Where the browser has broken a text into lines.

export interface TextLine {
  readonly text: string;
  readonly rect: DOMRect;
}

/** The lines of a text as they are on the page; none if it is not drawn. */
export function textLines(node: Text): TextLine[] {
  const text = node.data.replace(/\s+/g, " ");
  if (text.trim() === "") return [];
  const range = document.createRange();
  range.selectNodeContents(node);
  const rects = [...range.getClientRects()].filter(({ width }) => width > 0);
  const [first] = rects;
  if (!first) return [];
  if (rects.length === 1) return [{ text: text.trim(), rect: first }];
  return brokenLines(node, range);
}

/** Words one by one: those at the same height are a line. */
function brokenLines(node: Text, range: Range): TextLine[] {
  const lines: { text: string; rect: DOMRect }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const rect = range.getClientRects()[0];
    if (!rect) continue;
    const last = lines.at(-1);
    if (last && Math.abs(last.rect.top - rect.top) < 2) last.text += ` ${word}`;
    else lines.push({ text: word, rect });
  }
  return lines;
}
