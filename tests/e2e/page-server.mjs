// A page that is built but not embedded: a server in front of a Hadal server. It answers the page's
// files itself, with the headers of the Hadal server's page, and passes on every other request.
import { createReadStream, statSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join, normalize, resolve } from "node:path";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
};
/** Headers that are about the bytes of the embedded file. */
const OF_THE_BYTES = ["content-type", "content-length", "content-encoding", "transfer-encoding", "etag", "cache-control", "connection"];

/** The file of a request; null if the folder has none of this name. */
function fileOf(folder, { method, url }) {
  if (method !== "GET") return null;
  const { pathname } = new URL(url, "http://page");
  const path = resolve(folder, `.${normalize(pathname === "/" ? "/index.html" : pathname)}`);
  return path.startsWith(folder) && statSync(path, { throwIfNoEntry: false })?.isFile() ? path : null;
}

function passOn(to, asked, response) {
  const { hostname, port } = new URL(to);
  const onward = request({ hostname, port, method: asked.method, path: asked.url, headers: asked.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  // As a browser notes a server that is gone, or a page that has stopped waiting.
  onward.once("error", () => response.destroy());
  response.once("close", () => onward.destroy());
  asked.pipe(onward);
}

/** Starts the page of a folder in front of a server; resolves to its address. Ends with the process. */
export async function servePage(folder, to) {
  const path = resolve(folder);
  statSync(join(path, "index.html"));
  const { headers } = await fetch(to);
  const kept = [...headers].filter(([name]) => !OF_THE_BYTES.includes(name));
  const front = createServer((asked, response) => {
    const file = fileOf(path, asked);
    if (file === null) return passOn(to, asked, response);
    response.writeHead(200, [...kept, ["content-type", TYPES[extname(file)] ?? "application/octet-stream"]].flat());
    createReadStream(file).pipe(response);
  });
  await new Promise((done) => front.listen(0, "127.0.0.1", done));
  front.unref();
  return `http://127.0.0.1:${front.address().port}`;
}
