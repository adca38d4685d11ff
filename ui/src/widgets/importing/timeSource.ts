/** Where the times of rows come from, as the end of a sentence; empty if it is not known. */
export function timeWords(source: string): string {
  if (source === "") return "";
  if (source === "arrival time") return ", time of arrival";
  return `, times from ${source.replace(/^column /, "")}`;
}
