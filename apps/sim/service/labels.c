/* SPDX-License-Identifier: MIT */
/* What people call the columns of the built-in tables; see schema.h. */
#include "sim/service/schema.h"

/* Of all tables that have such a column, unless a line with a table says otherwise. */
static const struct {
    const char *table; /* NULL: any */
    const char *column;
    const char *label;
} labels[] = {
    { "account", "name", "Account Name" },
    { "account", "accountid", "Account" },
    { "account", "telephone1", "Main Phone" },
    { "account", "emailaddress1", "Email" },
    { "account", "parentaccountid", "Parent Account" },
    { "contact", "contactid", "Contact" },
    { "contact", "telephone1", "Business Phone" },
    { "contact", "parentcustomerid", "Company Name" },
    { "contact", "fullname", "Full Name" },
    { "opportunity", "opportunityid", "Opportunity" },
    { "opportunity", "name", "Topic" },
    { "opportunity", "parentaccountid", "Account" },
    { "sensorreading", "sensorreadingid", "Sensor Reading" },
    { "annotation", "annotationid", "Note" },
    { "annotation", "subject", "Title" },
    { "annotation", "notetext", "Description" },
    { "systemuser", "systemuserid", "User" },
    { "systemuser", "fullname", "Full Name" },
    { "systemuser", "domainname", "User Name" },
    { "team", "teamid", "Team" },
    { "team", "name", "Team Name" },
    { NULL, "accountnumber", "Account Number" },
    { NULL, "websiteurl", "Website" },
    { NULL, "address1_city", "Address 1: City" },
    { NULL, "address1_latitude", "Address 1: Latitude" },
    { NULL, "description", "Description" },
    { NULL, "revenue", "Annual Revenue" },
    { NULL, "creditlimit", "Credit Limit" },
    { NULL, "exchangerate", "Exchange Rate" },
    { NULL, "weir_score", "Score" },
    { NULL, "weir_amount", "Amount" },
    { NULL, "weir_measure", "Measure" },
    { NULL, "weir_sequence", "Sequence" },
    { NULL, "weir_channels", "Channels" },
    { NULL, "weir_founded", "Founded On" },
    { NULL, "weir_opening", "Opening Time" },
    { NULL, "weir_unitid", "Unit" },
    { NULL, "weir_contract", "Contract" },
    { NULL, "weir_reportsto", "Reports To" },
    { NULL, "numberofemployees", "Number of Employees" },
    { NULL, "industrycode", "Industry" },
    { NULL, "donotemail", "Do not allow Emails" },
    { NULL, "lastonholdtime", "Last On Hold Time" },
    { NULL, "primarycontactid", "Primary Contact" },
    { NULL, "transactioncurrencyid", "Currency" },
    { NULL, "preferredsystemuserid", "Preferred User" },
    { NULL, "entityimage", "Default Image" },
    { NULL, "ownerid", "Owner" },
    { NULL, "statecode", "Status" },
    { NULL, "statuscode", "Status Reason" },
    { NULL, "createdon", "Created On" },
    { NULL, "modifiedon", "Modified On" },
    { NULL, "overriddencreatedon", "Record Created On" },
    { NULL, "createdby", "Created By" },
    { NULL, "modifiedby", "Modified By" },
    { NULL, "createdonbehalfby", "Created By (Delegate)" },
    { NULL, "firstname", "First Name" },
    { NULL, "lastname", "Last Name" },
    { NULL, "emailaddress1", "Email" },
    { NULL, "jobtitle", "Job Title" },
    { NULL, "externaluseridentifier", "External User Identifier" },
    { NULL, "birthdate", "Birthday" },
    { NULL, "gendercode", "Gender" },
    { NULL, "numberofchildren", "No. of Children" },
    { NULL, "estimatedvalue", "Est. Revenue" },
    { NULL, "estimatedclosedate", "Est. Close Date" },
    { NULL, "closeprobability", "Probability" },
    { NULL, "customerid", "Potential Customer" },
    { NULL, "parentcontactid", "Contact" },
    { NULL, "objectid", "Regarding" },
    { NULL, "businessunitid", "Business Unit" },
    { NULL, "isocurrencycode", "Currency Code" },
    { NULL, "currencyname", "Currency Name" },
};

const char *sim_label_of(const struct sim_table *table, const struct sim_column *column)
{
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        bool here = !labels[i].table || strcmp(labels[i].table, table->name) == 0;
        if (here && strcmp(labels[i].column, column->name) == 0)
            return labels[i].label;
    }
    return column->attribute_of ? NULL : column->name;
}
