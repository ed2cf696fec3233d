import { requestIdOf } from "../../http/request-id.ts";
import { addressOf } from "./attempts.ts";
import type { Origin } from "./caller.ts";

/** Where a request comes from. */
export function originOf(request: Request): Origin {
  return { address: addressOf(request) || null, requestId: requestIdOf(request) };
}
