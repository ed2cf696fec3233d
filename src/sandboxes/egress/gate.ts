import type { EgressPolicy } from "../../contract/egress/policy.ts";
import type { EgressRefusal } from "../../contract/egress/refusal.ts";
import type { Resolve } from "./resolve.ts";

/** What a proxy asks the server about the connections of a sandbox, and reports to it. */
export interface EgressGate {
  /** The policy in force. @throws when it is not known: then nothing is let through */
  policyOf(sessionId: string): Promise<EgressPolicy>;
  refused(sessionId: string, refusal: EgressRefusal): void;
  /** A connection has ended. */
  passed(sessionId: string, traffic: EgressTraffic): void;
  /** For tests: replaces the resolver of this machine. */
  resolve?: Resolve;
}

/** What went through one connection, in bytes of the wire. */
export interface EgressTraffic {
  host: string;
  sent: number;
  received: number;
}
