// The main request of a view in other languages.

import { bodyOf } from "../api/client";
import type { MainSpec } from "../explore/mainSpec";

/** The body of the request `POST /v1/query`. */
export const bodyOfMain = (spec: MainSpec): string =>
  "sql" in spec ? JSON.stringify(spec) : bodyOf(spec);

/** The body with each part on a line of its own. */
export const jsonText = (spec: MainSpec): string =>
  JSON.stringify(JSON.parse(bodyOfMain(spec)), null, 2);

/** A command for a POSIX shell. */
export const curlText = (spec: MainSpec, origin: string): string =>
  `curl ${origin}/v1/query -d '${bodyOfMain(spec).replaceAll("'", "'\\''")}'`;

/** A program in Python that needs nothing but Python. */
export function pythonText(spec: MainSpec, origin: string): string {
  const body = bodyOfMain(spec);
  return [
    "import json, urllib.request",
    "",
    `body = json.loads(${pythonString(body)})`,
    `request = urllib.request.Request("${origin}/v1/query", json.dumps(body).encode())`,
    "with urllib.request.urlopen(request) as response:",
    "    answer = json.load(response)",
    'print([column["name"] for column in answer["columns"]])',
    'for row in answer["rows"]:',
    "    print(row)",
  ].join("\n");
}

/** A string constant of Python: what JSON escapes, Python reads the same. */
const pythonString = (text: string): string => JSON.stringify(text);
