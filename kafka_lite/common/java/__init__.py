"""Numbers, replacements and times in the forms of Java, as configurations and converted data have them.

Kafka 0.10.2: none; java.lang, java.util.regex, java.text · book 8.3.3
"""
