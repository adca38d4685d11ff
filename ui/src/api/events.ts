// Server-sent events of a response: EventSource cannot send a POST.

export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** The event of a block of lines; null if it has no data, as a comment has none. */
function eventOf(block: string): ServerEvent | null {
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice("event: ".length);
    else if (line.startsWith("data: ")) data.push(line.slice("data: ".length));
  }
  return data.length === 0 ? null : { name, data: data.join("\n") };
}

/**
 * The events of a body, as they come. Lines end with a line feed alone, as Hadal's do. A last event
 * without the empty line after it is incomplete, and left out.
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let ended = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      ended = done;
      if (done) return;
      // The end of an event may have come in two pieces.
      let from = Math.max(0, text.length - 1);
      text += decoder.decode(value, { stream: true });
      for (let end = text.indexOf("\n\n", from); end >= 0; end = text.indexOf("\n\n")) {
        const event = eventOf(text.slice(0, end));
        text = text.slice(end + 2);
        from = 0;
        if (event) yield event;
      }
    }
  } finally {
    // Nobody reads the rest: the connection may close. Chromium closes it for a body that has
    // ended, too, if it is cancelled.
    if (!ended) void reader.cancel().catch(() => undefined);
  }
}
