// The clipboard, with a word of whether it worked.

import { tell } from "./notice";

/** Without a secure connection browsers have no clipboard but for what is selected. */
function copySelected(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "unseen";
  document.body.append(field);
  const before = document.activeElement;
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return copied;
}

/** Copies a text; with `html`, for programs that take it, as that. Says `words` once it has. */
export async function copyText(text: string, words = "Copied", html?: string): Promise<boolean> {
  const copied = await write(text, html).catch(() => copySelected(text));
  if (copied) tell(words);
  else tell("The browser does not let the page copy. Select the text and copy it.", true);
  return copied;
}

async function write(text: string, html?: string): Promise<boolean> {
  if (html === undefined) {
    await navigator.clipboard.writeText(text);
    return true;
  }
  const part = (type: string, content: string) => ({ [type]: new Blob([content], { type }) });
  const item = new ClipboardItem({ ...part("text/plain", text), ...part("text/html", html) });
  await navigator.clipboard.write([item]);
  return true;
}
