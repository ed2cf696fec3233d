import type { ModelUpstream } from "../../src/contract/model-upstream.ts";
import { fieldsOf } from "./fields.ts";

export const UPSTREAM_FIELDS = fieldsOf<ModelUpstream>()([
  "id",
  "source",
  "overridden",
  "format",
  "url",
  "models",
  "author",
  "updated_at",
]);
