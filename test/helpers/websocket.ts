/** Opens a WebSocket with header fields and a list of protocols, which only Bun takes together. */
export function openWebSocket(
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols: readonly string[],
): WebSocket {
  return Reflect.construct(WebSocket, [url.replace(/^http/, "ws"), { headers, protocols }]);
}
