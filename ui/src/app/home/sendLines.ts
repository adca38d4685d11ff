// Lines to copy that send events to this very server, as the browser reaches it.

export interface SendLine {
  readonly words: string;
  readonly line: string;
}

export interface SendTab {
  readonly name: string;
  readonly lines: readonly SendLine[];
  readonly note?: string;
}

const EVENT = '{"message": "first light", "depth_m": 10935, "ok": true}';

/** The tabs; with `token`, the lines take one from the shell's variable HADAL_TOKEN. */
export function sendTabs(origin: string, token: boolean): readonly SendTab[] {
  return [
    shell(origin, token),
    python(origin, token),
    javascript(origin, token),
    otel(origin, token),
  ];
}

function shell(origin: string, token: boolean): SendTab {
  const head = token ? ` -H "Authorization: Bearer $HADAL_TOKEN"` : "";
  return {
    name: "curl",
    lines: [
      { words: "Log one event", line: `curl ${origin}/v1/log/hello${head} -d '${EVENT}'` },
      {
        words: "Log what a program prints, as it prints it",
        line: `ping -c 30 localhost | hadal log pings --server ${origin}`,
      },
      {
        words: "Bring a file: JSON lines, CSV, Parquet, plain text",
        line: `hadal import events.jsonl --table events --server ${origin}`,
      },
    ],
  };
}

function python(origin: string, token: boolean): SendTab {
  const headers = token ? `, headers={"Authorization": "Bearer " + os.environ["HADAL_TOKEN"]}` : "";
  return {
    name: "Python",
    lines: [
      {
        words: "Log one event",
        line: `python3 - <<'END'
import json, os, urllib.request
event = {"message": "first light", "depth_m": 10935, "ok": True}
request = urllib.request.Request("${origin}/v1/log/hello", json.dumps(event).encode()${headers})
print(urllib.request.urlopen(request).read().decode())
END`,
      },
    ],
    note: "For programs that log many events, the folder clients/python of the sources has a client that sends them in batches and never waits.",
  };
}

function javascript(origin: string, token: boolean): SendTab {
  const more = token ? `, Authorization: \`Bearer \${process.env.HADAL_TOKEN}\`` : "";
  return {
    name: "JavaScript",
    lines: [
      {
        words: "Log one event with Node",
        line: `node --input-type=module - <<'END'
const event = { message: "first light", depth_m: 10935, ok: true };
const headers = { "Content-Type": "application/json"${more} };
const body = JSON.stringify(event);
const answer = await fetch("${origin}/v1/log/hello", { method: "POST", headers, body });
console.log(await answer.text());
END`,
      },
    ],
    note: "For programs that log many events, the folder clients/js of the sources has a client that sends them in batches and never waits.",
  };
}

const SIGNALS = ["traces", "logs", "metrics"] as const;

function otel(origin: string, token: boolean): SendTab {
  const variables = SIGNALS.map(
    (it) => `export OTEL_EXPORTER_OTLP_${it.toUpperCase()}_ENDPOINT=${origin}/v1/log/${it}`,
  );
  const endpoints = SIGNALS.map((it) => `    ${it}_endpoint: ${origin}/v1/log/${it}`);
  const header = token
    ? ['export OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer $HADAL_TOKEN"']
    : [];
  const field = token ? ["    headers:", `      Authorization: Bearer \${env:HADAL_TOKEN}`] : [];
  return {
    name: "OpenTelemetry",
    lines: [
      {
        words: "Programs with an SDK that sends JSON over HTTP, such as that of Node",
        line: ["export OTEL_EXPORTER_OTLP_PROTOCOL=http/json", ...variables, ...header].join("\n"),
      },
      {
        words: "All others by a Collector, in its configuration",
        line: [
          "exporters:",
          "  otlphttp/hadal:",
          "    encoding: json",
          ...endpoints,
          ...field,
        ].join("\n"),
      },
      {
        words: "Log one span by hand",
        line: `curl ${origin}/v1/log/traces${token ? ` -H "Authorization: Bearer $HADAL_TOKEN"` : ""} -d '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "5b8e", "spanId": "01", "name": "GET /cart", "startTimeUnixNano": "'$(date +%s)'000000000", "endTimeUnixNano": "'$(date +%s)'500000000"}]}]}]}'`,
      },
    ],
    note: "Each span, log record or data point is a row; attributes are columns.",
  };
}
