"""Reports: checked documents in words, as JSON records, JUnit and Markdown."""
