CREATE TYPE "public"."domain_problem" AS ENUM('missing', 'unanswered', 'taken');--> statement-breakpoint
CREATE TABLE "app_domains" (
	"account_id" uuid NOT NULL,
	"domain" text NOT NULL,
	"app_id" uuid NOT NULL,
	"proven_at" timestamp with time zone,
	"lost_at" timestamp with time zone,
	"problem" "domain_problem",
	"checked_at" timestamp with time zone,
	"next_check_at" timestamp with time zone NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "app_domains_account_id_domain_pk" PRIMARY KEY("account_id","domain")
);
--> statement-breakpoint
ALTER TABLE "app_domains" ADD CONSTRAINT "app_domains_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "app_domains" ADD CONSTRAINT "app_domains_app_id_apps_app_id_fk" FOREIGN KEY ("app_id") REFERENCES "public"."apps"("app_id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "app_domains_proven" ON "app_domains" USING btree ("domain") WHERE "app_domains"."proven_at" is not null;--> statement-breakpoint
CREATE INDEX "app_domains_app_id" ON "app_domains" USING btree ("app_id");--> statement-breakpoint
CREATE INDEX "app_domains_next_check_at" ON "app_domains" USING btree ("next_check_at");