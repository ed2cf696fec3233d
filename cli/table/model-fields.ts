import type { ModelUpstream } from "../../src/contract/model-upstream.ts";
import { fieldsOf } from "./fields.ts";

export const UPSTREAM_FIELDS = fieldsOf<ModelUpstream>()([
  "id",
  "source",
  "format",
  "url",
  "models",
  "author",
  "updated_at",
]);
