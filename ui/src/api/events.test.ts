import { expect, it } from "vitest";
import { eventsOf, type ServerEvent } from "./events";

/** A body of these bytes, which come in pieces of `size`. */
function body(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) {
        controller.enqueue(bytes.slice(at, at + size));
      }
      controller.close();
    },
  });
}

async function all(text: string, size: number): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of eventsOf(body(text, size))) events.push(event);
  return events;
}

it("reads events however their bytes are cut", async () => {
  const text =
    'event: progress\ndata: {"rows":1}\n\n: a comment\n\nevent: answer\ndata: ["größer 🌊"]\n\n';
  for (let size = 1; size <= text.length + 8; size++) {
    expect(await all(text, size), `pieces of ${size}`).toEqual([
      { name: "progress", data: '{"rows":1}' },
      { name: "answer", data: '["größer 🌊"]' },
    ]);
  }
});

it("leaves out an event that breaks off", async () => {
  expect(await all("data: 1\n\nevent: answer\ndata: [1", 5)).toEqual([
    { name: "message", data: "1" },
  ]);
});

it("cancels a body that is not read to its end", async () => {
  let cancelled = 0;
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) =>
    controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
  const body = new ReadableStream({ pull, cancel: () => void cancelled++ });
  for await (const _ of eventsOf(body)) break;
  expect(cancelled).toBe(1);
});
