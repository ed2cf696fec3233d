import type { Conversation } from "./conversation.ts";

/** The interval of events that show that the stream is alive, as the runtime sends them. */
const HEARTBEAT_MS = 10_000;
/** What a slow client may leave unread; then its stream ends, and it connects again. */
const BUFFER_MAX_BYTES = 16 * 1024 * 1024;

/** The events of the conversation as Server-Sent Events, from now on. */
export function eventStream(conversation: Conversation, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  let end = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (event: { type: string; properties: Record<string, unknown> }) => {
          if ((controller.desiredSize ?? 0) < 0) return end();
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
        };
        const unsubscribe = conversation.subscribe(send);
        const heartbeat = setInterval(send, HEARTBEAT_MS, { type: "server.heartbeat", properties: {} });
        end = () => {
          end = () => {};
          unsubscribe();
          clearInterval(heartbeat);
          signal.removeEventListener("abort", onAbort);
          try {
            controller.close();
          } catch {
            // the client has ended it
          }
        };
        const onAbort = () => end();
        signal.addEventListener("abort", onAbort);
        send({ type: "server.connected", properties: {} });
      },
      cancel: () => end(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_MAX_BYTES }),
  );
  return new Response(body, {
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "no-store" },
  });
}
