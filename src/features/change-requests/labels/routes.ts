import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { createLabelBody, editLabelBody, label } from "../../../contract/label.ts";
import type { Deps } from "../../../deps.ts";
import { answer, listOf, ok } from "../../../http/schema.ts";
import { guard } from "../../../identity/auth/guard.ts";
import { createLabel, deleteLabel, editLabel, listLabels } from "./manage.ts";

const params = Type.Object({ projectId: Type.String(), name: Type.String() });

/** The labels of a project. Agents use and create them; only people change those that exist. */
export const labelRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/projects/:projectId/labels", tags: ["change requests"] })
    .use(guard(deps))
    .get("", ({ project }) => listLabels(deps, project), {
      project: "write",
      ...answer(200, listOf("labels", label)),
    })
    .post(
      "",
      ({ caller, project, body, set }) => {
        set.status = 201;
        return createLabel(deps, caller, project, body);
      },
      { project: "write", body: createLabelBody, ...answer(201, label) },
    )
    .patch(
      "/:name",
      ({ caller, project, params, body }) => editLabel(deps, caller, project, params.name, body),
      {
        project: "user",
        params,
        body: editLabelBody,
        ...answer(200, label),
      },
    )
    .delete("/:name", ({ caller, project, params }) => deleteLabel(deps, caller, project, params.name), {
      project: "user",
      params,
      ...answer(200, ok),
    });
