import { Button } from "./button.tsx";

interface Props {
  list: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => Promise<unknown> };
}

/** A button that loads the next page of a list. */
export function More({ list }: Props) {
  if (!list.hasNextPage) return null;
  return (
    <div className="mt-4">
      <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
        Show more
      </Button>
    </div>
  );
}
