import { type Static, Type } from "@sinclair/typebox";

/** The device flow (RFC 8628): a program requests a token, a person approves in a browser, and the program polls. */
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** The lifetime of a request. */
export const DEVICE_LIFE_S = 10 * 60;
/** Seconds between two polls. */
export const DEVICE_INTERVAL_S = 5;
/** Characters of the label of a program. */
export const DEVICE_LABEL_MAX = 100;

export const DEVICE_STATUSES = ["pending", "approved", "denied"] as const;

const time = Type.String({ format: "date-time" });

/** Body of `POST /v1/auth/device`. */
export const deviceBody = Type.Object({
  label: Type.String({ minLength: 1, maxLength: DEVICE_LABEL_MAX, pattern: "\\S" }),
  client_id: Type.Optional(Type.String({ maxLength: DEVICE_LABEL_MAX })),
});

/** Its answer (RFC 8628, 3.2). */
export const deviceCode = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri: Type.String(),
  verification_uri_complete: Type.String(),
  expires_in: Type.Integer(),
  interval: Type.Integer(),
});
export type DeviceCode = Static<typeof deviceCode>;

/** Body of `POST /v1/auth/device/token`. */
export const devicePollBody = Type.Object({
  device_code: Type.String({ minLength: 1, maxLength: 128 }),
  grant_type: Type.Literal(DEVICE_GRANT),
});

/** Its answer after approval: the only time the token is shown. */
export const deviceToken = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal("bearer"),
  token_id: Type.String({ format: "uuid" }),
});
export type DeviceToken = Static<typeof deviceToken>;

/** Answer of `GET /v1/auth/device/:userCode`: the data of the consent page. */
export const deviceRequest = Type.Object({
  user_code: Type.String(),
  label: Type.String({ description: "The label that the program gives." }),
  client: Type.Union([Type.String(), Type.Null()]),
  address: Type.String({ description: "The address of the program." }),
  requested_at: time,
  expires_at: time,
});
export type DeviceRequest = Static<typeof deviceRequest>;

/** Answer of `POST /v1/accounts/tokens` with a `device_user_code`: the waiting program receives the token. */
export const deviceApproved = Type.Object({ status: Type.Literal("approved"), name: Type.String() });
export type DeviceApproved = Static<typeof deviceApproved>;
