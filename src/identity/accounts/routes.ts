import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { me as meSchema, mintedUserToken, mintUserTokenBody, userToken } from "../../contract/account.ts";
import { deviceApproved } from "../../contract/device.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import { signIn } from "../../contract/sign-in.ts";
import { addSigningKeyBody, signingKey, signingKeyList } from "../../contract/signing-key.ts";
import type { Deps } from "../../deps.ts";
import { pageQuery, readPage } from "../../http/page.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { storable } from "../../http/text.ts";
import { guard } from "../auth/guard.ts";
import { endSignIn, listSignIns } from "../auth/sign-ins.ts";
import { me } from "./me.ts";
import { addSigningKey, listSigningKeys, removeSigningKey } from "./signing-keys.ts";
import { listUserTokens, mintUserToken, revokeUserToken } from "./tokens.ts";

/** Routes of the caller's own accounts, for user tokens only (spec 5.3). */
export const accountRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/accounts", tags: ["accounts"] })
    .use(guard(deps))
    .get("/me", ({ caller }) => me(deps, caller), { user: true, ...answer(200, meSchema) })
    .get("/tokens", ({ caller, query }) => listUserTokens(deps, caller, readPage(query)), {
      user: true,
      query: Type.Object(pageQuery),
      ...answer(200, listOf("tokens", userToken)),
    })
    .post(
      "/tokens",
      ({ caller, body, set }) => {
        set.status = 201;
        return mintUserToken(deps, caller, { ...body, name: storable("name", body.name, NAME_MAX * 4) });
      },
      { user: true, body: mintUserTokenBody, ...answer(201, Type.Union([mintedUserToken, deviceApproved])) },
    )
    .delete("/tokens/:tokenId", ({ caller, params }) => revokeUserToken(deps, caller, params.tokenId), {
      user: true,
      params: Type.Object({ tokenId: uuidParam }),
      ...answer(200, ok),
    })
    .get("/sign-ins", ({ caller, request }) => listSignIns(deps, caller, request), {
      user: true,
      ...answer(200, Type.Object({ sign_ins: Type.Array(signIn) })),
    })
    .delete("/sign-ins/:signInId", ({ caller, params }) => endSignIn(deps, caller, params.signInId), {
      user: true,
      params: Type.Object({ signInId: uuidParam }),
      ...answer(200, ok),
    });

/** The caller's signing keys, at paths and in shapes like GitHub's. */
export const signingKeyRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/users/me/signing-keys", tags: ["accounts"] })
    .use(guard(deps))
    .get("", ({ caller }) => listSigningKeys(deps, caller), { user: true, ...answer(200, signingKeyList) })
    .post(
      "",
      ({ caller, body, set }) => {
        set.status = 201;
        return addSigningKey(deps, caller, body);
      },
      { user: true, body: addSigningKeyBody, ...answer(201, signingKey) },
    )
    .delete("/:keyId", ({ caller, params }) => removeSigningKey(deps, caller, Number(params.keyId)), {
      user: true,
      params: Type.Object({ keyId: Type.String({ pattern: "^[1-9]\\d{0,14}$" }) }),
      ...answer(200, ok),
    });
