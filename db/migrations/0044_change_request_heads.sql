CREATE TABLE "change_request_heads" (
	"cr_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"commit_sha" text NOT NULL,
	"base_commit_sha" text NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"kept" boolean,
	CONSTRAINT "change_request_heads_cr_id_number_pk" PRIMARY KEY("cr_id","number")
);
--> statement-breakpoint
ALTER TABLE "change_request_heads" ADD CONSTRAINT "change_request_heads_cr_id_change_requests_cr_id_fk" FOREIGN KEY ("cr_id") REFERENCES "public"."change_requests"("cr_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "change_request_heads_not_kept" ON "change_request_heads" USING btree ("cr_id") WHERE "change_request_heads"."kept" is null;--> statement-breakpoint
INSERT INTO "change_request_heads" ("cr_id", "number", "commit_sha", "base_commit_sha", "seen_at")
SELECT "cr_id", 1, "head_commit_sha", "base_commit_sha", "updated_at" FROM "change_requests" WHERE "head_commit_sha" IS NOT NULL AND "base_commit_sha" IS NOT NULL;
