import { Value } from "@sinclair/typebox/value";
import { arrayOf, numberField, textField } from "../contract/json.ts";
import { type ListeningPort, listeningPort, PORTS_MAX, PROCESS_MAX } from "../contract/ports.ts";
import { NO_PREVIEW } from "../contract/preview.ts";

/** The ports that a daemon lists. Sandboxes are not trusted: only what the contract has is read. */
export function readPorts(value: unknown): ListeningPort[] {
  return arrayOf(value)
    .slice(0, PORTS_MAX)
    .flatMap((each) => {
      const process = textField(each, "process").slice(0, PROCESS_MAX) || null;
      const found = { port: numberField(each, "port"), process };
      return Value.Check(listeningPort, found) && !NO_PREVIEW.includes(found.port) ? [found] : [];
    });
}
