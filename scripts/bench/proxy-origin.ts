/** The dynamic part of the origin behind the proxies: `bun proxy-origin.ts <port>`. */
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.argv[2]),
  idleTimeout: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  async fetch(request, server) {
    const { pathname } = new URL(request.url);
    if (pathname === "/ws" && server.upgrade(request)) return undefined;
    if (pathname === "/sse") {
      const stream = new ReadableStream({ start: (controller) => controller.enqueue("data: first\n\n") });
      return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
    }
    let bytes = 0;
    for await (const piece of request.body ?? []) bytes += piece.length;
    return new Response(String(bytes));
  },
  websocket: {
    idleTimeout: 0,
    message: (socket, message) => void socket.send(message),
  },
});
