/** The branches on which merge queues test merged results begin with this. Only svc creates, moves and deletes them. */
export const QUEUE_BRANCHES = "svc-queue/";
