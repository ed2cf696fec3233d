import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { deviceBody, deviceCode, devicePollBody, deviceRequest, deviceToken } from "../../contract/device.ts";
import type { Deps } from "../../deps.ts";
import { answer, ok } from "../../http/schema.ts";
import { guard } from "../auth/guard.ts";
import { denyDevice, readDeviceRequest } from "./decide.ts";
import { pollDevice } from "./poll.ts";
import { requestDevice } from "./request.ts";

/**
 * The device flow (contract: CLI). The program's two routes need no token; a person approves by `POST /v1/accounts/tokens`
 * with the code.
 */
export const deviceRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/auth/device", tags: ["auth"] })
    .use(guard(deps))
    .onAfterHandle(({ set }) => {
      set.headers["cache-control"] = "no-store";
    })
    .post("", ({ request, body }) => requestDevice(deps, request, body), {
      body: deviceBody,
      ...answer(200, deviceCode),
    })
    .post("/token", ({ request, body }) => pollDevice(deps, request, body.device_code), {
      body: devicePollBody,
      ...answer(200, deviceToken),
    })
    .get("/:userCode", ({ caller, params }) => readDeviceRequest(deps, caller, params.userCode), {
      user: true,
      params: Type.Object({ userCode: Type.String({ maxLength: 32 }) }),
      ...answer(200, deviceRequest),
    })
    .post("/:userCode/deny", ({ caller, params }) => denyDevice(deps, caller, params.userCode), {
      user: true,
      params: Type.Object({ userCode: Type.String({ maxLength: 32 }) }),
      ...answer(200, ok),
    });
