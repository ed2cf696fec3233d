import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { channel, channelTest, connectChannelBody } from "../../contract/channel.ts";
import type { Deps } from "../../deps.ts";
import { answer, listOf, ok, uuidParam } from "../../http/schema.ts";
import { guard } from "../../identity/auth/guard.ts";
import { connectChannel } from "./connect.ts";
import { disconnectChannel } from "./disconnect.ts";
import { listChannels } from "./list.ts";
import { testChannel } from "./test.ts";

const one = {
  project: "manage",
  params: Type.Object({ projectId: Type.String(), channelId: uuidParam }),
} as const;

/** The chat channels of a project. */
export const channelRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/channels", tags: ["channels"] })
    .use(guard(deps))
    .get("", ({ project }) => listChannels(deps, project), {
      project: "manage",
      ...answer(200, listOf("channels", channel)),
    })
    .post(
      "",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return connectChannel(deps, caller, project, body);
      },
      { project: "manage", body: connectChannelBody, ...answer(201, channel) },
    )
    .delete(
      "/:channelId",
      ({ caller, project, params }) => disconnectChannel(deps, caller, project, params.channelId),
      {
        ...one,
        ...answer(200, ok),
      },
    )
    .post("/:channelId/test", ({ project, params }) => testChannel(deps, project, params.channelId), {
      ...one,
      ...answer(200, channelTest),
    });
