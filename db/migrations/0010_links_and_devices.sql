CREATE TYPE "public"."device_status" AS ENUM('pending', 'approved', 'denied');--> statement-breakpoint
CREATE TYPE "public"."link_kind" AS ENUM('first_user', 'password', 'invitation');--> statement-breakpoint
CREATE TABLE "device_requests" (
	"hash" text PRIMARY KEY NOT NULL,
	"user_code_hash" text NOT NULL,
	"label" text NOT NULL,
	"client" text,
	"address" text NOT NULL,
	"status" "device_status" DEFAULT 'pending' NOT NULL,
	"user_id" uuid,
	"token_name" text,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"polled_at" timestamp with time zone,
	"interval_s" integer NOT NULL,
	CONSTRAINT "device_requests_user_code_unique" UNIQUE("user_code_hash"),
	CONSTRAINT "device_requests_approved_by_somebody" CHECK (("device_requests"."status" = 'approved') = ("device_requests"."user_id" is not null and "device_requests"."token_name" is not null))
);
--> statement-breakpoint
CREATE TABLE "links" (
	"link_id" uuid PRIMARY KEY DEFAULT gen_random_uuid() NOT NULL,
	"hash" text NOT NULL,
	"kind" "link_kind" NOT NULL,
	"user_id" uuid,
	"account_id" uuid,
	"role" "member_role",
	"email" text,
	"created_by" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "links_hash_unique" UNIQUE("hash"),
	CONSTRAINT "links_password_has_user" CHECK (("links"."kind" = 'password') = ("links"."user_id" is not null)),
	CONSTRAINT "links_invitation_has_account" CHECK (("links"."kind" = 'invitation') = ("links"."account_id" is not null and "links"."role" is not null))
);
--> statement-breakpoint
ALTER TABLE "device_requests" ADD CONSTRAINT "device_requests_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "links" ADD CONSTRAINT "links_user_id_users_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "links" ADD CONSTRAINT "links_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "links" ADD CONSTRAINT "links_created_by_users_user_id_fk" FOREIGN KEY ("created_by") REFERENCES "public"."users"("user_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "device_requests_user_id" ON "device_requests" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "device_requests_expires_at" ON "device_requests" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "links_user_id" ON "links" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "links_account_id" ON "links" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "links_created_by" ON "links" USING btree ("created_by");--> statement-breakpoint
CREATE INDEX "links_expires_at" ON "links" USING btree ("expires_at");