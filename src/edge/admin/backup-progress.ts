/** Shows how far a backup or a restore is, on stderr: on a terminal each part, otherwise each kind of part. */
export function progressTo(
  stream: NodeJS.WriteStream,
  doing: string,
): { part(name: string, bytes: number): void; end(): void } {
  let last = "";
  return {
    part(name, bytes) {
      const kind = name.split("/", 1)[0] ?? "";
      if (stream.isTTY) {
        stream.write(`\r\x1b[K${doing}: ${Math.floor(bytes / 1e6)} MB, ${name.slice(0, 50)}`);
      } else if (kind !== last) stream.write(`${doing}: ${kind}\n`);
      last = kind;
    },
    end() {
      if (stream.isTTY && last !== "") stream.write("\r\x1b[K");
    },
  };
}
