import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf } from "./schema.ts";

/**
 * Why a check found no proof: there is no such TXT record, the resolver did not answer, or another account has proved that
 * the domain is its own.
 */
export const DOMAIN_PROBLEMS = ["missing", "unanswered", "taken"] as const;
export type DomainProblem = (typeof DOMAIN_PROBLEMS)[number];

/** `waiting` for its proof, `proven`, or `lost`: its proof is gone, and it is served for some days more. */
export const DOMAIN_STATES = ["waiting", "proven", "lost"] as const;

/** Bytes of a domain name in ASCII (RFC 1035, 2.3.4). */
export const DOMAIN_MAX = 253;

const time = Type.String({ format: "date-time" });

/** A domain of an app. */
export const appDomain = Type.Object({
  domain: Type.String({ description: "In ASCII, such as xn--bcher-kva.example" }),
  state: oneOf(DOMAIN_STATES),
  problem: nullable(oneOf(DOMAIN_PROBLEMS)),
  record: Type.Object(
    { name: Type.String(), value: Type.String() },
    { description: "The TXT record that proves the domain. It is the same for all apps of the account" },
  ),
  target: Type.String({ description: "The app's own host name, to which the domain can be a CNAME" }),
  url: nullable(Type.String({ description: "Where the app is served; null: not at this domain" })),
  served_until: nullable(time),
  checked_at: nullable(time),
  created_at: time,
});
export type AppDomain = Static<typeof appDomain>;

/** Body of `POST …/domains`. */
export const addDomainBody = Type.Object({
  domain: Type.String({ minLength: 1, maxLength: DOMAIN_MAX }),
});
