ALTER TABLE "change_request_comments" ADD COLUMN "start_line" integer;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD COLUMN "anchor_commit_sha" text;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD COLUMN "placed_commit_sha" text;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD COLUMN "placed_path" text;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD COLUMN "placed_line" integer;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD COLUMN "placed_start_line" integer;--> statement-breakpoint
ALTER TABLE "change_request_comments" ADD CONSTRAINT "change_request_comments_lines" CHECK ("change_request_comments"."start_line" is null or "change_request_comments"."start_line" < "change_request_comments"."line");