import { type RefObject, useCallback, useMemo, useState } from "react";
import { moveDraft } from "../../../parts/draft.ts";
import { draftOf, LineThreads } from "../line-threads.tsx";
import type { PendingComment, PendingReview } from "../pending-review.ts";
import type { Where } from "../queries.ts";
import type { Thread } from "../threads.ts";
import { type Annotations, placesOf } from "./annotations.ts";
import type { DiffListHandle } from "./diff-list.tsx";
import type { DiffFile } from "./files.ts";
import type { Lines, Place } from "./rows.ts";
import { placeKey, threadsByPath, useThreadsByPlace } from "./threads.ts";

/** What stands beside the lines of a diff. */
interface Beside {
  threads: readonly Thread[];
  /** Those of the reader's review that are on its lines. */
  pending: readonly PendingComment[];
  annotations: Annotations;
}

/**
 * The threads of a diff, and the comments that the reader is writing.
 * @returns `byPath`: the lines that have one; `show` renders those of a line; `compose` begins a comment, with the text of
 *   another that it replaces; `composing` are the lines with such comments
 */
export function useLineComments(
  where: Where,
  { threads, pending, annotations }: Beside,
  review: PendingReview,
  list: RefObject<DiffListHandle | null>,
) {
  const byPlace = useThreadsByPlace(threads);
  const [composing, setComposing] = useState<readonly Lines[]>([]);
  const byPath = useMemo(
    () => threadsByPath(byPlace, [...pending, ...composing, ...placesOf(annotations)]),
    [byPlace, pending, composing, annotations],
  );
  const compose = useCallback(
    (lines: Lines, instead: Lines | null) => {
      if (instead) moveDraft(draftOf(where, instead), draftOf(where, lines));
      setComposing((before) => [...without(instead ? without(before, instead) : before, lines), lines]);
    },
    [where],
  );
  const show = useCallback(
    (place: Place, file: DiffFile) => (
      <LineThreads
        where={where}
        file={file}
        threads={byPlace.get(placeKey(place)) ?? []}
        pending={pending.filter((each) => placeKey(each) === placeKey(place))}
        annotations={annotations.get(placeKey(place)) ?? []}
        review={review}
        composing={composing.find((each) => placeKey(each) === placeKey(place)) ?? null}
        onClose={() => {
          setComposing((before) => without(before, place));
          list.current?.focusLine(place);
        }}
      />
    ),
    [where, byPlace, pending, annotations, review, composing, list],
  );
  return { byPath, show, compose, composing };
}

function without(places: readonly Lines[], place: Place): Lines[] {
  return places.filter((each) => placeKey(each) !== placeKey(place));
}
