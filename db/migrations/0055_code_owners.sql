CREATE TABLE "change_request_owners" (
	"cr_id" uuid PRIMARY KEY NOT NULL,
	"base_sha" text NOT NULL,
	"head_sha" text NOT NULL,
	"ownership" jsonb NOT NULL
);
--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "require_code_owner_review" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "change_request_owners" ADD CONSTRAINT "change_request_owners_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
UPDATE "projects" SET "policy_commit" = NULL;